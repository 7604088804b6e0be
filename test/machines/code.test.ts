// For machines/draw/code.ts
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { getInitialSnapshot, getNextTransitions } from "xstate";
import type { AnyStateMachine, AnyStateNode, StateValue } from "xstate";
import { CHARTS } from "../../machines/charts.ts";
import { codeOf } from "../../machines/draw/code.ts";
import { outlineOf } from "../../machines/draw/outline.ts";
import type { Outline } from "../../machines/draw/outline.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";

/** The chart that a module of this text exports, in a folder that has nothing but packages. */
async function chartOf(code: string, name: string): Promise<AnyStateMachine> {
  const folder = temporaryFolder();
  symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(folder, "node_modules"));
  const file = join(folder, "chart.mjs");
  writeFileSync(file, code);
  // A cast: what is imported is the text above.
  const module = (await import(pathToFileURL(file).href)) as Record<string, AnyStateMachine>;
  const chart = module[`${name}Machine`];
  if (chart === undefined) throw new Error(`The code exports no ${name}Machine`);
  return chart;
}

/** States, entries and moves as the pictures name them; what an action is, only its code says. */
function withoutKinds(outline: Outline): unknown {
  return JSON.parse(JSON.stringify(outline, (key, value: unknown) => (key === "kind" ? undefined : value)));
}

function leavesOf(state: AnyStateNode): AnyStateNode[] {
  const inner = Object.values(state.states);
  return inner.length === 0 ? [state] : inner.flatMap(leavesOf);
}

/** What XState says may come next in each state. Functions are left out, as in any JSON. */
function nextIn(machine: AnyStateMachine): unknown {
  const begun = getInitialSnapshot(machine);
  return leavesOf(machine.root).map(({ id, path }) => {
    const value = path.reduceRight<StateValue>(
      (inner, name) => (inner === "" ? name : { [name]: inner }),
      "",
    );
    const snapshot = machine.resolveState({ ...begun, value });
    const next = getNextTransitions(snapshot).map(
      ({ eventType, guard, actions, reenter, source, target }) => ({
        eventType,
        guard,
        actions,
        reenter,
        from: source.id,
        to: target?.map((state) => state.id),
      }),
    );
    return JSON.parse(JSON.stringify({ id, next })) as unknown;
  });
}

test.each(Object.entries(CHARTS))(
  "the code of the %s's chart needs xstate alone, and is the same chart",
  async (name, machine) => {
    const copy = await chartOf(codeOf(machine), name);
    expect(withoutKinds(outlineOf(copy))).toEqual(withoutKinds(outlineOf(machine)));
    expect(nextIn(copy)).toEqual(nextIn(machine));
  },
);
