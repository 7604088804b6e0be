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
