// For test/faults/
import { expect, test } from "vitest";
import type { Message } from "../../../src/domain/threads/message.ts";
import { replyTo } from "../victims/echo-model.ts";
import { historyFaults } from "./history-check.ts";
import type { Append } from "./history-check.ts";

/** The checker itself: a history for each kind of fault. */
function historyOf(...texts: string[]): Message[] {
  return texts.flatMap((text, index): Message[] => {
    const common = { createdAtMs: 0, runId: `run of ${text}` };
    return [
      { ...common, id: String(2 * index + 1), role: "user", content: text },
      { ...common, id: String(2 * index + 2), role: "assistant", content: replyTo(text), outcome: "done" },
    ];
  });
}

/** Sent one after the other, each acknowledged before the next one is sent. */
function appended(...texts: string[]): Append[] {
  return texts.map((text, index) => ({ text, sentAtMs: 10 * index, ackedAtMs: 10 * index + 5 }));
}

test("a history with everything once, in order, is faultless", () => {
  expect(historyFaults(historyOf("a", "b", "c"), appended("a", "b", "c"), [])).toEqual([]);
});

test("a text whose answer never came may be there or not, anywhere after it was sent", () => {
  const [a, b, c] = appended("a", "b", "c") as [Append, Append, Append];
  const maybe = { ...b, ackedAtMs: null };
  expect(historyFaults(historyOf("a", "c"), [a, maybe, c], [])).toEqual([]);
  expect(historyFaults(historyOf("a", "c", "b"), [a, maybe, c], [])).toEqual([]);
  expect(historyFaults(historyOf("b", "a", "c"), [a, maybe, c], [])).toEqual([
    "reordered: b stands before a",
  ]);
});

test.each([
  ["lost: b", historyOf("a", "c")],
  ["doubled: a", historyOf("a", "b", "c", "a")],
  ["phantom: x", historyOf("a", "x", "b", "c")],
  ["reordered: c stands before b", historyOf("a", "c", "b")],
  ["out of turn: message 2, assistant after undefined", historyOf("a", "b", "c").slice(1)],
])("finds what is %s", (fault, history) => {
  expect(historyFaults(history, appended("a", "b", "c"), [])).toContain(fault);
});

test("finds a wrong reply, a reply of another run, and a second reply", () => {
  const [said, reply] = historyOf("a") as [Message, Message];
  const faultsOf = (...history: Message[]) => historyFaults(history, appended("a"), []).join();
  expect(faultsOf(said, { ...reply, content: "You said: You said: a" })).toMatch("wrong reply");
  expect(faultsOf(said, { ...reply, runId: "other" })).toMatch("another run");
  expect(faultsOf(said, reply, reply)).toMatch("out of turn");
});

test("finds what was read and is not so any more", () => {
  const faults = historyFaults(historyOf("a", "b"), appended("a", "b"), [[{ id: "3", content: "z" }]]);
  expect(faults).toEqual(["rewritten: message 3 was z"]);
});
