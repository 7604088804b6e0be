// For src/console/conversation/talk-state.ts
import { expect, test } from "vitest";
import {
  NOTHING_SAID,
  openReply,
  withHistory,
  withLine,
  withQuiet,
} from "../../src/console/conversation/talk-state.ts";
import type { WatchLine } from "../../src/console/conversation/talk-state.ts";
import type { MessageView } from "../../src/console/service/views.ts";

const message = (id: number, role: "user" | "assistant" = "user"): MessageView => ({
  id: String(id),
  role,
  content: `word ${id}`,
  createdAt: id,
});
const item = (one: MessageView): WatchLine => ({ type: "message", item: one });

test("a message is shown once, in its place, however often and from wherever it comes", () => {
  let talk = withHistory(NOTHING_SAID, [message(9), message(10)]);
  talk = withLine(talk, item(message(10)));
  talk = withLine(talk, item(message(11)));
  talk = withHistory(talk, [message(7), message(8), message(9)]);
  expect(talk.messages.map(({ id }) => id)).toEqual(["7", "8", "9", "10", "11"]);
});

test("what begins a branch takes the place of the items that it leaves out", () => {
  let talk = withHistory(NOTHING_SAID, [
    message(1),
    message(2, "assistant"),
    message(3),
    message(4, "assistant"),
  ]);
  talk = withLine(talk, item({ ...message(5), replaces: "3" }));
  expect(talk.messages.map(({ id }) => id)).toEqual(["1", "2", "5"]);
});

test("a reply that is written is shown until it is in the history, and never beside itself", () => {
  const said = { type: "said", runId: "r", fresh: true, lines: [{ type: "delta", text: "Let me" }] } as const;
  let talk = withLine(NOTHING_SAID, item(message(1)));
  talk = withLine(talk, { ...said, lines: [...said.lines] });
  expect(openReply(talk)).toBeNull();
  talk = withLine(talk, { type: "state", state: "running", runId: "r" });
  expect(openReply(talk)?.lines).toEqual([{ type: "delta", text: "Let me" }]);
  talk = withLine(talk, item(message(2, "assistant")));
  expect(openReply(talk)).toBeNull();
  talk = withLine(talk, { ...said, fresh: false, lines: [{ type: "done", elapsedMs: 1 }] });
  expect(openReply(talk)).toBeNull();
  talk = withLine(talk, { type: "state", state: "idle" });
  expect(openReply(talk)).toBeNull();
});

test("who answers is known from the state", () => {
  let talk = withLine(NOTHING_SAID, { type: "state", state: "waiting_for_person", waitingSince: 5 });
  expect(talk.person).toEqual({ sinceMs: 5 });
  talk = withLine(talk, { type: "state", state: "with_person", with: "Ada" });
  expect(talk.person).toEqual({ name: "Ada" });
  expect(withLine(talk, { type: "state", state: "idle" }).person).toBeNull();
});

test("an operator who writes is seen until they have written, are silent, or the thread is another's", () => {
  const writing = withLine(NOTHING_SAID, { type: "typing", name: "Ada" });
  expect(writing.writes).toBe("Ada");
  const said = { ...message(3, "assistant"), author: { type: "person" as const, name: "Ada" } };
  expect(withLine(writing, item(said)).writes).toBeNull();
  expect(withLine(writing, item({ ...said, author: { type: "person" as const, name: "Ben" } })).writes).toBe(
    "Ada",
  );
  expect(withLine(writing, item(message(4))).writes).toBe("Ada");
  expect(withQuiet(writing).writes).toBeNull();
  expect(withLine(writing, { type: "state", state: "with_person", with: "Ben" }).writes).toBeNull();
});
