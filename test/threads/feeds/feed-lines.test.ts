// For src/threads/feeds/feed-lines.ts
import { describe, expect, test } from "vitest";
import { beginningOf, newsOf, stateOf } from "../../../src/threads/feeds/feed-lines.ts";
import type { FeedLine, Told } from "../../../src/threads/feeds/feed-lines.ts";
import type { ThreadLook } from "../../../src/store.ts";
import { sampleMessage } from "../../stores/samples.ts";

const idle = { state: "idle" } as const;
const running = (runId: string) => ({ state: "running", runId }) as const;
const user = (id: number, runId: string) => sampleMessage(id, { runId });
const reply = (id: number, runId: string) => sampleMessage(id, { role: "assistant", runId });

/** `message 1`, `running r1`, `idle`, `reset`. */
function told(lines: readonly FeedLine[]): string[] {
  return lines.map((line) => {
    if (line.type === "message") return `message ${line.message.id}`;
    if (line.type !== "state") return line.type;
    return "runId" in line ? `${line.state} ${line.runId}` : line.state;
  });
}

describe("a feed begins", () => {
  const seen = { state: idle, messageCount: 150 };

  test.each([
    ["what is new, without `after`", null, 150, ["idle"]],
    ["behind the last item", "150", 150, ["idle"]],
    ["behind an item that is 100 ago", "50", 50, ["idle"]],
    ["at the first item, with an empty `after`", "", 0, ["idle"]],
    ["anew, where the item is more than 100 ago", "49", 150, ["idle", "reset"]],
    ["anew, where there is no such item", "151", 150, ["idle", "reset"]],
    ["anew, where it can be no item", "0", 150, ["idle", "reset"]],
    ["anew, where it is no number", "abc", 150, ["idle", "reset"]],
  ])("with %s", (_what, after, position, lines) => {
    const beginning = beginningOf(after, seen);
    expect(beginning.told).toEqual({ position, state: idle });
    expect(told(beginning.lines)).toEqual(lines);
  });

  test("with the run that goes on, for who knows its message; else that is told first", () => {
    const goesOn = { state: "awaiting", runId: "r9", messageCount: 7 } as const;
    const known = { state: stateOf(goesOn), messageCount: 7 };
    expect(told(beginningOf("7", known).lines)).toEqual(["awaiting r9"]);
    expect(told(beginningOf(null, known).lines)).toEqual(["awaiting r9"]);
    const behind = beginningOf("6", known);
    expect(told(behind.lines)).toEqual(["idle"]);
    const look = { ...goesOn, lastOp: "o", messages: [user(7, "r9")], to: 7 };
    expect(told(newsOf(behind.told, look, 7).lines)).toEqual(["message 7", "awaiting r9"]);
  });
});

test.each([
  { state: "waiting_for_person", waitingSince: 5 } as const,
  { state: "with_person", with: "ada" } as const,
])("a feed begins with $state, also for who does not know all items", (state) => {
  const behind = beginningOf("", { state, messageCount: 7 });
  expect(behind).toEqual({ told: { position: 0, state }, lines: [{ type: "state", ...state }] });
});

describe("what a look adds", () => {
  const from: Told = { position: 2, state: idle };
  const look = (changes: Partial<ThreadLook>): ThreadLook => ({
    state: "idle",
    runId: "r1",
    lastOp: "o",
    messageCount: 2,
    messages: [],
    to: 2,
    ...changes,
  });

  test("nothing, where nothing happened", () => {
    expect(newsOf(from, look({}), 2)).toEqual({ told: from, lines: [] });
  });

  test("a user's message, then its run", () => {
    const news = newsOf(
      from,
      look({ messages: [user(3, "r2")], to: 3, messageCount: 3, state: "running", runId: "r2" }),
      2,
    );
    expect(told(news.lines)).toEqual(["message 3", "running r2"]);
    expect(news.told).toEqual({ position: 3, state: running("r2") });
  });

  test("a run that is over by now was running", () => {
    const messages = [user(3, "r2"), reply(4, "r2"), user(5, "r3"), reply(6, "r3")];
    const news = newsOf(from, look({ messages, to: 6, messageCount: 6, runId: "r3" }), 2);
    expect(told(news.lines)).toEqual([
      "message 3",
      "running r2",
      "message 4",
      "message 5",
      "running r3",
      "message 6",
      "idle",
    ]);
  });

  test("the runs of items that were there when the feed began are not told", () => {
    const messages = [user(3, "r2"), reply(4, "r2"), user(5, "r3")];
    const news = newsOf(from, look({ messages, to: 5, messageCount: 5, state: "running", runId: "r3" }), 5);
    expect(told(news.lines)).toEqual(["message 3", "message 4", "message 5", "running r3"]);
  });

  test("the present state waits for the last item", () => {
    const messages = [user(3, "r2"), reply(4, "r2")];
    const news = newsOf(from, look({ messages, to: 4, messageCount: 9, runId: "r5" }), 2);
    expect(told(news.lines)).toEqual(["message 3", "running r2", "message 4"]);
  });

  test("a new state of the same run, and the same state of another run, are changes", () => {
    const first = newsOf({ position: 2, state: running("r1") }, look({ state: "awaiting" }), 2);
    expect(told(first.lines)).toEqual(["awaiting r1"]);
    const second = newsOf(first.told, look({ state: "awaiting", runId: "r2" }), 2);
    expect(told(second.lines)).toEqual(["awaiting r2"]);
  });
});
