// For src/models/rests.ts
import { expect, test } from "vitest";
import { createRests } from "../../src/models/rests.ts";

function withClock() {
  let nowMs = 0;
  const rests = createRests({ elapsed: () => nowMs });
  return { rests, pass: (ms: number) => void (nowMs += ms) };
}

test("who failed rests, longer with each failure in a row, and one turn tries it after that", () => {
  const { rests, pass } = withClock();
  expect(rests.rests("p/m")).toBe(false);
  for (const restMs of [15_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
    rests.asked("p/m");
    rests.failed("p/m", null);
    pass(restMs - 1);
    expect(rests.rests("p/m")).toBe(true);
    pass(1);
    expect(rests.rests("p/m")).toBe(false);
  }
  rests.asked("p/m");
  expect(rests.rests("p/m")).toBe(true);
  rests.well("p/m");
  expect(rests.rests("p/m")).toBe(false);
  rests.failed("p/m", null);
  pass(15_000);
  expect(rests.rests("p/m")).toBe(false);
});

test("it rests as long as its server asks, and five minutes at most; others are not meant", () => {
  const { rests, pass } = withClock();
  rests.failed("p/a", 2_000);
  rests.failed("p/b", 86_400_000);
  expect(rests.rests("q/a")).toBe(false);
  pass(2_000);
  expect([rests.rests("p/a"), rests.rests("p/b")]).toEqual([false, true]);
  pass(298_000);
  expect(rests.rests("p/b")).toBe(false);
});

test("who was left while it was tried is tried by the next turn, and rests twice as long where it fails", () => {
  const { rests, pass } = withClock();
  rests.left("p/m");
  expect(rests.rests("p/m")).toBe(false);
  rests.failed("p/m", null);
  pass(15_000);
  rests.asked("p/m");
  rests.left("p/m");
  expect(rests.rests("p/m")).toBe(false);
  rests.asked("p/m");
  rests.failed("p/m", null);
  pass(29_999);
  expect(rests.rests("p/m")).toBe(true);
  rests.left("p/m");
  expect(rests.rests("p/m")).toBe(true);
});

test("turns that fail together are one failure, and it rests from the last of them, or as long as one of them was asked to", () => {
  const { rests, pass } = withClock();
  for (let nth = 0; nth < 20; nth += 1) {
    rests.failed("p/m", null);
    pass(100);
  }
  pass(14_899);
  expect(rests.rests("p/m")).toBe(true);
  pass(1);
  expect(rests.rests("p/m")).toBe(false);
  rests.asked("p/m");
  rests.failed("p/m", 60_000);
  rests.failed("p/m", null);
  pass(59_999);
  expect(rests.rests("p/m")).toBe(true);
  pass(1);
  expect(rests.rests("p/m")).toBe(false);
});
