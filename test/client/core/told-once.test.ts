// For src/client/core/told-once.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { createToldOnce } from "../../../src/client/core/told-once.ts";
import type { WireLine } from "../../../src/client/core/told-once.ts";

const DONE: WireLine = { type: "done", elapsedMs: 1 };

function played(tellings: readonly WireLine[][]): string {
  const told = createToldOnce();
  let shown = "";
  for (const telling of tellings) {
    told.begin();
    for (const news of telling.flatMap((line) => told.newsIn(line))) {
      if (news.type === "restart") shown = "";
      if (news.type === "delta") shown += news.text;
    }
    expect(told.text).toBe(shown);
  }
  return shown;
}

test("however often a reply is told, and wherever it is cut, a reader has its last telling, each word once", () => {
  const words = fc.array(fc.constantFrom("a", "b", "ab", "abc"), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(words, { maxLength: 3 }), words, (cutOff, whole) => {
      const deltas = (texts: string[]) => texts.map((text): WireLine => ({ type: "delta", text }));
      const tellings = [...cutOff.map(deltas), [...deltas(whole), DONE]];
      expect(played(tellings)).toBe(whole.join(""));
    }),
  );
});

test("a step that was told is not told again", () => {
  const told = createToldOnce();
  const step = (phase: "running" | "done"): WireLine => ({ type: "step", id: "a", phase, text: "Looking" });
  const first = [step("running"), step("done")].flatMap((line) => told.newsIn(line));
  told.begin();
  const second = [step("running"), step("done"), DONE].flatMap((line) => told.newsIn(line));
  expect([first.length, second]).toEqual([2, [DONE]]);
});

test("a line of a newer version takes nothing back, wherever it comes", () => {
  const told = createToldOnce();
  // A cast: this version does not know it.
  const note = { type: "note" } as unknown as WireLine;
  told.newsIn({ type: "delta", text: "Hello" });
  told.begin();
  expect(told.newsIn(note)).toEqual([note]);
  expect(told.newsIn({ type: "delta", text: "Hello" })).toEqual([]);
  expect(told.text).toBe("Hello");
});
