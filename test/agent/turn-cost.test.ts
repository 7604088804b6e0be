// For src/agent/turn-cost.ts
import { expect, test } from "vitest";
import { createTurnCost } from "../../src/agent/turn-cost.ts";
import type { Prices, SentRequest } from "../../src/model.ts";

const prices: Prices = {
  currency: "USD",
  perMillionTokens: { "one/small": { input: 0.25, output: 2 } },
};

/** A request that was answered, with what the server told of it. */
function answered(by: string, input: number, output: number): SentRequest {
  const usage = { input, output };
  const arrived = { usage, bytes: 0, isFinished: true, firstTextAtMs: null };
  return { messages: [], by, isRefused: false, arrived: () => arrived };
}

test("a turn costs what its requests cost, each at the price of who was asked", () => {
  const cost = createTurnCost([], prices);
  expect(cost.money()).toBeNull();
  cost.sent(answered("one/small", 2_000, 100));
  cost.sent({ ...answered("one/small", 9_000, 0), isRefused: true });
  cost.sent(answered("two/unpriced", 5_000, 500));
  cost.sent(answered("one/small", 1, 0));
  expect(cost.soFar()).toEqual({ input: 7_001, output: 600 });
  // 2,001 × 0.25 and 100 × 2 millionths.
  expect(cost.money()).toEqual({ currency: "USD", micros: 700 });
});

test("without prices, or with none for who was asked, nothing is said of money", () => {
  for (const cost of [createTurnCost([]), createTurnCost([], { currency: "USD", perMillionTokens: {} })]) {
    cost.sent(answered("one/small", 2_000, 100));
    expect(cost.soFar()).toEqual({ input: 2_000, output: 100 });
    expect(cost.money()).toBeNull();
  }
});
