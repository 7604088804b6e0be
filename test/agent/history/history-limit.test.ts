// For src/agent/history/history-limit.ts, src/domain/threads/history-summary.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maxCharsOf, summarizesTo } from "../../../src/agent/history/history-limit.ts";
import type { Message } from "../../../src/domain/threads/message.ts";
import type { HistorySummary } from "../../../src/domain/threads/history-summary.ts";
import { message } from "../run.ts";

const said = (id: number, chars: number): Message =>
  message(id, id % 2 === 1 ? "user" : "assistant", "x".repeat(chars));
const upTo = (number: number): HistorySummary => ({
  text: "They met.",
  upTo: number,
  atMs: 0,
  model: "p/m",
  usage: null,
});
const talk = (count: number, chars: number, from = 1) =>
  Array.from({ length: count }, (_, nth) => said(from + nth, chars));
const NO_TOKEN_LIMIT = Infinity;

describe("what is to be summarised", () => {
  test("is nothing while the history fits, and then all but the newest half of the limit", () => {
    const limit = { maxChars: 100, maxTokens: NO_TOKEN_LIMIT };
    expect(summarizesTo({ summary: null, tail: talk(10, 10) }, limit)).toBeNull();
    // 11 messages of 10: the newest 50 characters are 7 to 11, and a visitor's message begins what stays.
    expect(summarizesTo({ summary: null, tail: talk(11, 10) }, limit)).toBe(6);
    expect(summarizesTo({ summary: upTo(6), tail: talk(11, 10) }, limit)).toBeNull();
    expect(summarizesTo({ summary: upTo(6), tail: talk(17, 10) }, limit)).toBe(12);
  });

  test("is what was not even read, too", () => {
    const limit = { maxChars: 1_000, maxTokens: NO_TOKEN_LIMIT };
    expect(summarizesTo({ summary: null, tail: talk(4, 10, 21) }, limit)).toBe(20);
    expect(summarizesTo({ summary: upTo(20), tail: talk(4, 10, 21) }, limit)).toBeNull();
  });

  test("counts calls with their results, the text of long replies that is in parts, and tokens by the estimate", () => {
    const calls = [{ tool: "find", arguments: "x".repeat(40), result: "y".repeat(40) }];
    const tail = [said(1, 10), { ...said(2, 10), calls }, said(3, 10), said(4, 10)];
    expect(summarizesTo({ summary: null, tail }, { maxChars: 100, maxTokens: NO_TOKEN_LIMIT })).toBe(2);
    const long = [said(1, 10), { ...said(2, 10), kept: { parts: 1, chars: 90 } }, said(3, 1), said(4, 1)];
    expect(summarizesTo({ summary: null, tail: long }, { maxChars: 100, maxTokens: NO_TOKEN_LIMIT })).toBe(2);
    // 10 characters are 8 + 3 tokens.
    expect(summarizesTo({ summary: null, tail: talk(4, 10) }, { maxChars: 1_000, maxTokens: 44 })).toBeNull();
    expect(summarizesTo({ summary: null, tail: talk(4, 10) }, { maxChars: 1_000, maxTokens: 43 })).toBe(2);
  });

  test("never has the last question and its answer, however long they are", () => {
    expect(summarizesTo({ summary: null, tail: talk(1, 1_000) }, { maxChars: 10, maxTokens: 1 })).toBeNull();
    expect(summarizesTo({ summary: null, tail: [] }, { maxChars: 10, maxTokens: 1 })).toBeNull();
    expect(summarizesTo({ summary: null, tail: talk(4, 1_000) }, { maxChars: 10, maxTokens: 1 })).toBe(2);
  });

  test("L1: leaves a history that fits, goes forward, and stays within what there is: whatever was said", () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 30 });
    fc.assert(
      fc.property(sizes, fc.nat(30), fc.integer({ min: 1, max: 300 }), (chars, before, maxChars) => {
        const tail = chars.map((size, nth) => said(nth + 1, size));
        const summary = before === 0 || before >= tail.length ? null : upTo(before);
        const limit = { maxChars, maxTokens: NO_TOKEN_LIMIT };
        const to = summarizesTo({ summary, tail }, limit);
        if (to === null) return;
        expect(to).toBeGreaterThan(summary?.upTo ?? 0);
        expect(to).toBeLessThan(tail.length);
        // One summary is enough: what is left then fits, or is one exchange.
        const next = summarizesTo({ summary: upTo(to), tail }, limit);
        const left = tail.length - to;
        expect(next === null || left <= 2).toBe(true);
      }),
    );
  });
});

test("maxChars is 160,000 where the channel says nothing else, and no limit where it has no history at all", () => {
  expect(maxCharsOf(undefined)).toBe(Infinity);
  expect(maxCharsOf({})).toBe(160_000);
  expect(maxCharsOf({ maxChars: 5 })).toBe(5);
});
