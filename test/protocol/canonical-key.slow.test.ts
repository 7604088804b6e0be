// For test/protocol/
import { setImmediate as breathe } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { usual } from "./configurations.ts";
import type { Model } from "./explore.ts";
import { ownership } from "./ownership.ts";
import { mended, today } from "./rules.ts";
import type { Rules } from "./rules.ts";
import type { Bounds, State } from "./state.ts";

/** What can follow a state, by keys. */
function futureOf(state: State, model: Model<State>): string {
  const steps = model.next(state).map((step) => `${step.optional}${step.broken}${model.key(step.state)}`);
  return [...new Set(steps)].sort().join("\n");
}

/** Compares each state with the first one that had its key. */
async function differences(rules: Rules, bounds: Partial<Bounds>) {
  const model = ownership({ rules, bounds: { ...usual, ...bounds } });
  const futures = new Map<string, string>();
  const found = { compared: 0, differing: 0 };
  const open = [model.initial];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const key = model.key(state);
    const future = futureOf(state, model);
    const first = futures.get(key);
    if (first !== undefined) {
      found.compared++;
      if (first !== future) found.differing++;
      continue;
    }
    futures.set(key, future);
    if (futures.size % 500 === 0) await breathe();
    open.push(...model.next(state).map((step) => step.state));
  }
  return found;
}

describe("states with one key have one future", () => {
  const PATIENTLY = { timeout: 600_000 };
  test.each<{ rules: Rules; bounds: Partial<Bounds> }>([
    { rules: mended, bounds: { faults: { crash: 1, lost: 1 } } },
    { rules: mended, bounds: { processes: 2, messages: 2, course: "page", faults: { threadFailover: 1 } } },
    { rules: mended, bounds: { processes: 2, threads: 2, messages: 2, faults: { crash: 1, late: 1 } } },
    { rules: today, bounds: { processes: 2, faults: { crash: 1, beatFailover: 1 } } },
  ])("with $bounds", PATIENTLY, async ({ rules, bounds }) => {
    const { compared, differing } = await differences(rules, bounds);
    expect(compared).toBeGreaterThan(500);
    expect(differing).toBe(0);
  });
});
