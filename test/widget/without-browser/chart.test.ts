// For src/widget/chart/, machines/tab.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tabMachine } from "../../../machines/tab.ts";
import type { TabEffect } from "../../../machines/tab.ts";
import type { TabContext } from "../../../machines/tab-events.ts";
import { beginningOf, transition } from "../../../src/widget/chart/transition.ts";
import type { Chart } from "../../../src/widget/chart/transition.ts";
import { assign, setup } from "../../../src/widget/chart/xstate.ts";
import { randomRuns } from "../../support/lengths.ts";
import { happenings, play } from "../../machines/tab-events.ts";

/** The chart as the page's script has it: build.mjs puts the widget's file in the place of XState. */
function chartInPage(): Chart {
  const { guards, actions } = tabMachine.implementations;
  const inPage = Object.entries(actions).map(([name, action]) =>
    action !== undefined && "assignment" in action ? [name, assign(action.assignment)] : [name, action],
  );
  return setup({ guards, actions: Object.fromEntries(inPage) }).createMachine(tabMachine.config);
}

/** A state as a chart may have it, for this check of what it has. */
interface AnyState {
  entry?: unknown;
  exit?: unknown;
  on?: Record<string, AnyBranch | AnyBranch[]>;
  states?: Record<string, AnyState>;
}

interface AnyBranch {
  guard?: string;
  target?: string;
  reenter?: boolean;
  actions?: unknown;
}

/** Everything in a chart that transition.ts does not know, by its place. */
function unknownIn({ config, implementations }: Chart): string[] {
  const found: string[] = [];
  const known = {
    // XState adds schemas, which are empty.
    chart: ["id", "context", "initial", "states", "schemas", "on"],
    state: ["initial", "entry", "exit", "on", "states"],
    branch: ["guard", "target", "reenter", "actions"],
  };
  // A cast: any chart is checked.
  const root = config as AnyState;
  const guards = Object.keys(implementations.guards);
  const actions = Object.keys(implementations.actions);

  function check(place: string, has: object, allowed: readonly string[]): void {
    for (const name of Object.keys(has)) if (!allowed.includes(name)) found.push(`${place} has ${name}`);
  }
  function checkActions(place: string, given: unknown): void {
    for (const action of [given].flat()) {
      const isKnown = action === undefined || (typeof action === "string" && actions.includes(action));
      if (!isKnown) found.push(`${place} does ${JSON.stringify(action)}`);
    }
  }
  function exists(path: readonly string[]): boolean {
    return path.reduce<AnyState | undefined>((node, name) => node?.states?.[name], root) !== undefined;
  }
  function checkState(path: readonly string[], state: AnyState, allowed: readonly string[]): void {
    const place = path.join(".");
    check(place, state, allowed);
    for (const done of [state.entry, state.exit]) {
      if (done !== undefined && typeof done !== "string")
        found.push(`${place} enters or leaves with more than a name`);
      checkActions(place, done);
    }
    for (const [event, given] of Object.entries(state.on ?? {})) {
      if (event === "" || event.includes("*")) found.push(`${place} takes any event`);
      for (const branch of [given].flat()) {
        const { guard, target, reenter, actions: done } = branch;
        check(`${place} on ${event}`, branch, known.branch);
        checkActions(`${place} on ${event}`, done);
        if (guard !== undefined && !guards.includes(guard)) found.push(`${place} asks ${guard}`);
        if (target === undefined) continue;
        const named = target.startsWith("#tab.")
          ? target.split(".").slice(1)
          : [...path.slice(0, -1), target];
        if (!exists(named)) found.push(`${place} goes to ${target}`);
        if (named.join(".") === place && reenter !== true) found.push(`${place} goes to itself`);
      }
    }
    for (const [name, inner] of Object.entries(state.states ?? {}))
      checkState([...path, name], inner, known.state);
  }
  checkState([], root, known.chart);
  for (const [name, action] of Object.entries(implementations.actions as Record<string, object>)) {
    const { type, assignment } = action as { type?: string; assignment?: unknown };
    if (type !== undefined && type !== "xstate.assign") found.push(`${name} is ${type}`);
    if (typeof assignment !== "object" || assignment === null) continue;
    if (Object.values(assignment).some((value) => typeof value === "function"))
      found.push(`${name} has code for a field`);
  }
  return found;
}

test("the tab's chart has nothing that the page's interpreter does not know", () => {
  expect(unknownIn(tabMachine)).toEqual([]);
});

test.each<[what: string, config: object]>([
  ["an eventless transition", { states: { a: { always: { target: "a" } } } }],
  ["a parallel state", { type: "parallel", states: { a: {} } }],
  ["a delay", { states: { a: { after: { 10: { target: "a" } } } } }],
  ["an unknown target", { states: { a: { on: { e: { target: "b" } } } } }],
  ["an unknown guard", { states: { a: { on: { e: { guard: "g" } } } } }],
  ["an action as code", { states: { a: { entry: () => {} } } }],
  ["any event", { states: { a: { on: { "*": {} } } } }],
])("%s is refused", (_what, config) => {
  expect(unknownIn({ config, implementations: { guards: {}, actions: {} } })).not.toEqual([]);
});

describe("for all sequences of events the page's interpreter and XState agree", () => {
  const RUNS = { numRuns: randomRuns(200) };
  const agreement = (chart: Chart) =>
    fc.property(happenings, (all) => {
      let state = beginningOf<TabContext>(chart);
      for (const { event, before, after, effects } of play(all)) {
        if (event === null) state = beginningOf(chart);
        else {
          expect(state).toEqual(before);
          const { effects: done, ...next } = transition<TabContext, TabEffect>(chart, state, event);
          state = next;
          expect(done).toEqual(effects);
        }
        expect(state).toEqual(after);
      }
    });

  test("in state, context and effects", () => {
    expect(beginningOf(tabMachine).path).toBe("resting.idle");
    fc.assert(agreement(tabMachine), RUNS);
  });

  test("with the chart as the page's script has it", () => {
    const chart = chartInPage();
    expect(Object.keys(chart)).toEqual(["config", "implementations"]);
    fc.assert(agreement(chart), RUNS);
  });
});
