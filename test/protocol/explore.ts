import { setImmediate as breathe } from "node:timers/promises";
import { comesToRest } from "./comes-to-rest.ts";

/**
 * Explores every state that a model can reach, breadth first, so that the first violation found has the shortest trace.
 *
 * Safety: no state and no step breaks a rule. Liveness: from every reachable state, going on without `optional` steps
 * (faults, and what clients choose) comes to rest. `every` way of going on does, in whatever order steps happen, and
 * with no fairness but that something happens where something can; or `some` way does, which suffices where every step
 * that can be taken again and again is taken at last.
 */
export interface Step<State> {
  action: string;
  state: State;
  /** Need not ever happen. */
  optional: boolean;
  /** The rule that the step itself breaks. */
  broken: string | null;
}

export interface Model<State> {
  initial: State;
  next(state: State): Step<State>[];
  /** States with one key have the same future: names and numbers that nothing depends on are left out. */
  key(state: State): string;
  /** The rule that a state breaks. */
  broken(state: State): string | null;
  /** Is nothing left to do? */
  isAtRest(state: State): boolean;
}

export interface Limits {
  maxStates?: number;
  rests?: "every" | "some";
}

export interface Violation {
  kind: "broken" | "stuck" | "endless";
  what: string;
  /** The actions that lead there. */
  trace: string[];
  /** With "endless": the actions that can follow one another for ever. */
  loop: string[];
}

export interface Exploration {
  states: number;
  steps: number;
  /** Actions from the start to the farthest state. */
  depth: number;
  /** Every reachable state was seen; otherwise nothing is said of liveness. */
  isWhole: boolean;
  violation: Violation | null;
}

/** What was met so far. States have numbers in the order in which they were met; the initial one is 0. */
class Journey<State> {
  readonly ids = new Map<string, number>();
  readonly parents: number[] = [];
  readonly depths: number[] = [];
  readonly rests: boolean[] = [];
  readonly onward = { from: [] as number[], to: [] as number[] };
  /** Those that were met and not expanded yet. */
  readonly waiting: (State | undefined)[] = [];
  steps = 0;
  readonly #model: Model<State>;

  constructor(model: Model<State>) {
    this.#model = model;
    this.meet(model.key(model.initial), model.initial, -1);
  }

  meet(key: string, state: State, parent: number): number {
    const id = this.ids.size;
    this.ids.set(key, id);
    this.waiting.push(state);
    this.parents.push(parent);
    this.depths.push(parent < 0 ? 0 : (this.depths[parent] ?? 0) + 1);
    this.rests.push(this.#model.isAtRest(state));
    return id;
  }

  /** Plays the shortest way to a state again. The state has the names of this way. */
  retrace(id: number): { trace: string[]; state: State } {
    const way: number[] = [];
    for (let at = id; at > 0; at = this.parents[at] ?? -1) way.unshift(at);
    const trace: string[] = [];
    let state = this.#model.initial;
    for (const next of way) {
      const step = this.stepFrom(state, (one, id) => id === next && one.broken === null);
      trace.push(step.action);
      state = step.state;
    }
    return { trace, state };
  }

  stepFrom(state: State, isWanted: (step: Step<State>, id: number) => boolean): Step<State> {
    const isIt = (step: Step<State>) => isWanted(step, this.ids.get(this.#model.key(step.state)) ?? -1);
    const step = this.#model.next(state).find(isIt);
    if (!step) throw new Error("Cannot play a trace again: states with one key have other futures");
    return step;
  }
}

/** After so many states the process may hear others: a test's runner gives up on a worker that is silent for a minute. */
const STATES_AT_ONCE = 1_000;

export async function explore<State>(model: Model<State>, limits: Limits = {}): Promise<Exploration> {
  const { maxStates = 1_000_000, rests = "every" } = limits;
  const journey = new Journey(model);
  let expanded = 0;
  let violation = brokenAtOnce(model);
  while (!violation && expanded < journey.waiting.length && journey.ids.size <= maxStates) {
    violation = expand(model, journey, expanded++);
    if (expanded % STATES_AT_ONCE === 0) await breathe();
  }
  const isWhole = !violation && expanded === journey.waiting.length;
  if (isWhole) violation = restless(model, journey, rests);
  const { ids, steps, depths } = journey;
  return { states: ids.size, steps, depth: depths.at(-1) ?? 0, isWhole, violation };
}

function brokenAtOnce<State>(model: Model<State>): Violation | null {
  const what = model.broken(model.initial);
  return what === null ? null : { kind: "broken", what, trace: [], loop: [] };
}

function expand<State>(model: Model<State>, journey: Journey<State>, id: number): Violation | null {
  const state = journey.waiting[id];
  if (state === undefined) throw new Error("Cannot expand a state twice");
  journey.waiting[id] = undefined;
  let goesOn = journey.rests[id] === true;
  for (const step of model.next(state)) {
    journey.steps++;
    const key = model.key(step.state);
    const known = journey.ids.get(key);
    const next = known ?? journey.meet(key, step.state, id);
    const what = step.broken ?? (known === undefined ? model.broken(step.state) : null);
    if (what !== null) {
      const before = journey.retrace(id);
      const last = journey.stepFrom(before.state, (one, to) => to === next && one.broken === step.broken);
      return { kind: "broken", what, trace: [...before.trace, last.action], loop: [] };
    }
    // A step that changes nothing leads nowhere.
    if (step.optional || next === id) continue;
    goesOn = true;
    journey.onward.from.push(id);
    journey.onward.to.push(next);
  }
  if (goesOn) return null;
  return { kind: "stuck", what: "nothing can happen any more", trace: journey.retrace(id).trace, loop: [] };
}

/** From the first state that does not come to rest, goes on through others until one comes again. */
function restless<State>(
  model: Model<State>,
  journey: Journey<State>,
  rests: "every" | "some",
): Violation | null {
  const good = comesToRest(journey.rests, journey.onward, rests);
  const first = good.indexOf(0);
  if (first < 0) return null;
  const { trace, state } = journey.retrace(first);
  const visited = [first];
  for (let at = state; ;) {
    const here = visited.at(-1);
    const step = journey.stepFrom(at, (one, id) => !one.optional && id !== here && good[id] === 0);
    trace.push(step.action);
    at = step.state;
    const id = journey.ids.get(model.key(at)) ?? -1;
    const since = visited.indexOf(id);
    if (since >= 0) {
      const loop = trace.splice(trace.length - (visited.length - since));
      return { kind: "endless", what: "the same can happen for ever", trace, loop };
    }
    visited.push(id);
  }
}

/** A violation as one reads it. */
export function told({ kind, what, trace, loop }: Violation): string {
  const lines = trace.map((action, nth) => `${String(nth + 1).padStart(3)}. ${action}`);
  const round = loop.map((action) => `  ↻  ${action}`);
  return [`${kind}: ${what}`, ...lines, ...round].join("\n");
}
