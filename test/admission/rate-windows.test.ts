// For src/admission/rate-windows.ts, src/admission/sketch.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSketch } from "../../src/admission/sketch.ts";
import { createRateWindows } from "../../src/admission/rate-windows.ts";
import { readConfig } from "../../src/config.ts";

const { limits } = readConfig({});
const MINUTE_MS = 60_000;

function openWindows(options: { exactKeys?: number } = {}) {
  const time = { nowMs: 0 };
  const clock = { now: () => time.nowMs, elapsed: () => time.nowMs };
  const windows = createRateWindows({ limits, clock, ...options });
  const message = (token: string, address: string) =>
    windows.take([
      { window: "messages-by-token", key: token },
      { window: "messages-by-address", key: address },
    ]);
  return { time, windows, message };
}

test("P21: for all sequences, a use passes exactly while both its windows have room, and a refused one counts nowhere", () => {
  const use = fc.record({
    token: fc.nat(4),
    address: fc.nat(1),
    afterMs: fc.oneof(fc.nat(3_000), fc.constant(MINUTE_MS)),
  });
  fc.assert(
    fc.property(fc.array(use, { maxLength: 200 }), (uses) => {
      const { time, message } = openWindows();
      const counts = new Map<string, number>();
      for (const { token, address, afterMs } of uses) {
        time.nowMs += afterMs;
        const minute = Math.floor(time.nowMs / MINUTE_MS);
        const names = [`${minute} token ${token}`, `${minute} address ${address}`];
        const [ofToken = 0, ofAddress = 0] = names.map((name) => counts.get(name) ?? 0);
        const hasRoom = ofToken < limits.messagesPerMinute && ofAddress < limits.ipMessagesPerMinute;
        const wait = message(`t${token}`, `a${address}`);
        expect(wait === null).toBe(hasRoom);
        if (hasRoom) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
        else expect(wait).toBe(Math.ceil(((minute + 1) * MINUTE_MS - time.nowMs) / 1000));
      }
    }),
    { numRuns: 200 },
  );
});

test("windows are aligned to the clock: ten at :59.9 and ten at :00.1 pass", () => {
  const { time, message } = openWindows();
  const ten = () => Array.from({ length: 10 }, () => message("t", "a"));
  time.nowMs = MINUTE_MS - 100;
  expect(ten().every((wait) => wait === null)).toBe(true);
  expect(message("t", "a")).toBe(1);
  time.nowMs = MINUTE_MS + 100;
  expect(ten().every((wait) => wait === null)).toBe(true);
  expect(message("t", "a")).toBe(60);
});

test("where two windows are full, the wait is for the one that ends last", () => {
  const { time, windows } = openWindows();
  const uses = [
    { window: "tool-results-by-token", key: "t" },
    { window: "threads-by-token", key: "t" },
  ] as const;
  for (const use of uses) while (windows.take([use]) === null);
  time.nowMs = 15_000;
  expect(windows.take(uses)).toBe(3_600 - 15);
  expect(windows.take(uses.toReversed())).toBe(3_600 - 15);
});

test("a clock that was set back begins a window anew, and locks nobody out", () => {
  const { time, message } = openWindows();
  time.nowMs = 10 * MINUTE_MS;
  while (message("t", "a") === null);
  time.nowMs = 5 * MINUTE_MS;
  expect(message("t", "a")).toBeNull();
});

test("each window has the limit and the length that its setting names", () => {
  const { time, windows } = openWindows();
  const minutes = 1;
  const hour = 60;
  for (const [window, limit, lengthMinutes] of [
    ["messages-by-token", limits.messagesPerMinute, minutes],
    ["messages-by-address", limits.ipMessagesPerMinute, minutes],
    ["tool-results-by-token", limits.toolResultsPerMinute, minutes],
    ["threads-by-token", limits.threadsPerHour, hour],
    ["visitors-by-address", limits.visitorsPerHourPerIp, hour],
  ] as const) {
    const take = () => windows.take([{ window, key: "k" }]);
    time.nowMs = 0;
    expect(Array.from({ length: limit }, take).every((wait) => wait === null)).toBe(true);
    time.nowMs = lengthMinutes * MINUTE_MS - 1;
    expect(take()).toBe(1);
    time.nowMs += 1;
    expect(take()).toBeNull();
  }
});

test("P18: past the exact keys, too, a new window begins with nothing", () => {
  const { time, windows } = openWindows({ exactKeys: 1 });
  const take = (key: string) => windows.take([{ window: "messages-by-token", key }]);
  take("exact");
  while (take("sketched") === null);
  time.nowMs = MINUTE_MS;
  take("exact");
  expect(take("sketched")).toBeNull();
});

test("P18: past the exact keys nobody passes more often than allowed, and a new key still passes", () => {
  const { windows } = openWindows({ exactKeys: 100 });
  const take = (key: string) => windows.take([{ window: "messages-by-token", key }]) === null;
  for (let key = 0; key < 20_000; key++) take(`flood ${key}`);
  const passed = Array.from({ length: 20 }, () => take("honest")).filter(Boolean).length;
  expect(passed).toBe(limits.messagesPerMinute);
});

test("P18: the sketch never counts too low", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 2 }), { maxLength: 300 }), (keys) => {
      const sketch = createSketch();
      const counts = new Map<string, number>();
      for (const key of keys) {
        sketch.add(key);
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      for (const [key, count] of counts) expect(sketch.estimate(key)).toBeGreaterThanOrEqual(count);
    }),
    { numRuns: 20 },
  );
});
