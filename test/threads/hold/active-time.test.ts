// For src/threads/hold/active-time.ts
import { expect, test, vi } from "vitest";
import { createActiveTime } from "../../../src/threads/hold/active-time.ts";
import { setTime } from "../set-time.ts";

test("the time that a save takes counts: a run ends for its time with the time that it took", () => {
  const time = setTime();
  const active = createActiveTime(time, 1_000);
  const onPassed = vi.fn<() => void>();
  active.count({ runId: "r1", activeMs: 0 }, onPassed);
  time.pass(300);
  const activeMs = active.soFar(0);
  time.pass(500);
  active.count({ runId: "r1", activeMs }, onPassed);
  expect(active.soFar(activeMs)).toBe(800);
  time.pass(199);
  expect(onPassed).not.toHaveBeenCalled();
  time.pass(1);
  expect(onPassed).toHaveBeenCalledOnce();
});

test("what a page takes to answer, and another run, are not counted", () => {
  const time = setTime();
  const active = createActiveTime(time, 1_000);
  active.count({ runId: "r1", activeMs: 200 }, () => {});
  active.rest();
  time.pass(5_000);
  expect(active.soFar(200)).toBe(200);
  active.count({ runId: "r1", activeMs: 200 }, () => {});
  time.pass(100);
  active.count({ runId: "r2", activeMs: 0 }, () => {});
  expect(active.soFar(0)).toBe(0);
});

test("what a visitor takes while a call waits is not counted, whatever is saved meanwhile", () => {
  const time = setTime();
  const active = createActiveTime(time, 1_000);
  const onPassed = vi.fn<() => void>();
  active.count({ runId: "r1", activeMs: 0 }, onPassed);
  time.pass(400);
  active.pause();
  active.pause();
  time.pass(5_000);
  expect(active.soFar(0)).toBe(400);
  // Another call, beside it, has its answer.
  active.count({ runId: "r1", activeMs: 400 }, onPassed);
  time.pass(5_000);
  expect(active.soFar(400)).toBe(400);
  active.goOn();
  active.goOn();
  time.pass(599);
  expect([active.soFar(400), onPassed.mock.calls.length]).toEqual([999, 0]);
  time.pass(1);
  expect(onPassed).toHaveBeenCalledOnce();
});

test("a wait that outlives its run stops no other run's time", () => {
  const time = setTime();
  const active = createActiveTime(time, 1_000);
  active.count({ runId: "r1", activeMs: 0 }, () => {});
  active.pause();
  active.rest();
  const onPassed = vi.fn<() => void>();
  active.count({ runId: "r2", activeMs: 0 }, onPassed);
  active.goOn();
  time.pass(1_000);
  expect(onPassed).toHaveBeenCalledOnce();
});
