// For test/protocol/
import { describe, expect, test } from "vitest";
import { explore, told } from "./explore.ts";
import type { Model, Step } from "./explore.ts";

/** A walk over numbered places: which lead to which, and which of these steps are optional. */
function walk(
  ways: Record<number, number[]>,
  rest: number,
  optional: [number, number][] = [],
): Model<number> {
  return {
    initial: 0,
    next: (from) =>
      (ways[from] ?? []).map((to): Step<number> => ({
        action: `${from} to ${to}`,
        state: to,
        optional: optional.some(([a, b]) => a === from && b === to),
        broken: to === 13 ? "a step to 13" : null,
      })),
    key: String,
    broken: (place) => (place === 666 ? "the place 666" : null),
    isAtRest: (place) => place === rest,
  };
}

describe("the explorer", () => {
  test("counts states, steps and depth", async () => {
    const found = await explore(walk({ 0: [1, 2], 1: [3], 2: [3] }, 3));
    expect(found).toEqual({ states: 4, steps: 4, depth: 2, isWhole: true, violation: null });
  });

  test("finds a broken state and a broken step by the shortest trace", async () => {
    const state = (await explore(walk({ 0: [1, 2], 1: [4], 2: [666], 4: [666] }, 3))).violation;
    expect(state).toMatchObject({ kind: "broken", what: "the place 666", trace: ["0 to 2", "2 to 666"] });
    const step = (await explore(walk({ 0: [1, 2], 1: [4], 2: [13], 4: [13] }, 3))).violation;
    expect(step).toMatchObject({ kind: "broken", what: "a step to 13", trace: ["0 to 2", "2 to 13"] });
  });

  test("finds where nothing can happen any more, but for what need not happen or changes nothing", async () => {
    expect((await explore(walk({ 0: [3, 5] }, 3))).violation).toMatchObject({
      kind: "stuck",
      trace: ["0 to 5"],
    });
    expect((await explore(walk({ 0: [0, 3] }, 3, [[0, 3]]))).violation).toMatchObject({
      kind: "stuck",
      trace: [],
    });
  });

  test("finds what can go on for ever without coming to rest", async () => {
    const found = (await explore(walk({ 0: [1], 1: [2, 3], 2: [1] }, 3))).violation;
    expect(found).toMatchObject({ kind: "endless", trace: ["0 to 1"], loop: ["1 to 2", "2 to 1"] });
  });

  test("lets that pass where some way to rest suffices, and finds what has none", async () => {
    expect((await explore(walk({ 0: [1], 1: [2, 3], 2: [1] }, 3), { rests: "some" })).violation).toBeNull();
    const found = (await explore(walk({ 0: [1, 3], 1: [2], 2: [1] }, 3), { rests: "some" })).violation;
    expect(found).toMatchObject({ kind: "endless", trace: ["0 to 1"], loop: ["1 to 2", "2 to 1"] });
  });

  test("says when it saw only a part", async () => {
    const endlessWay: Model<number> = { ...walk({}, -1), next: (n) => [stepTo(n + 1)] };
    expect(await explore(endlessWay, { maxStates: 100 })).toMatchObject({ isWhole: false, violation: null });
  });

  test("tells a violation step by step", async () => {
    const violation = (await explore(walk({ 0: [1], 1: [2, 3], 2: [1] }, 3))).violation;
    expect(violation && told(violation)).toContain("↻  1 to 2");
  });
});

function stepTo(state: number): Step<number> {
  return { action: `to ${state}`, state, optional: false, broken: null };
}
