// For src/console/inbox/inbox-state.ts
import { expect, test } from "vitest";
import {
  EVERY,
  NO_THREADS,
  fitting,
  isAnswerTo,
  isNews,
  noticeOf,
  shownIn,
  withChange,
  withListed,
  wantOf,
} from "../../src/console/inbox/inbox-state.ts";
import type { PlacedThread } from "../../src/console/service/views.ts";

const thread = (id: string, more: Partial<PlacedThread> = {}): PlacedThread => ({
  channel: "shop",
  id,
  threadId: id,
  userId: "ada",
  state: "idle",
  createdAt: 1,
  updatedAt: 1,
  epoch: 0,
  ...more,
});

test("what was told is not undone by a list that was read before it", () => {
  const told = withChange(NO_THREADS, thread("a", { state: "running", updatedAt: 9 }));
  const all = withListed(told, [thread("a", { updatedAt: 5 }), thread("b")]);
  expect(all.get("a")?.state).toBe("running");
  expect(fitting(all, ({ state }) => state === "idle").map(({ id }) => id)).toEqual(["b"]);
  expect(withListed(all, [thread("a", { updatedAt: 10 })]).get("a")?.state).toBe("idle");
});

test("of what rests the latest are kept, and of what is under way everything", () => {
  let all = NO_THREADS;
  for (let at = 0; at < 400; at += 1) {
    all = withChange(all, thread(`rests-${at}`, { updatedAt: at }));
    all = withChange(all, thread(`runs-${at}`, { state: "running", updatedAt: at }));
  }
  expect(fitting(all, ({ state }) => state === "running")).toHaveLength(400);
  const resting = fitting(all, ({ state }) => state === "idle").map(({ id }) => id);
  expect([resting.length, resting[0], resting.at(-1)]).toEqual([300, "rests-399", "rests-100"]);
});

test("news is a conversation that began meanwhile, once, and one that asks for a person, each time", () => {
  const known = new Map<string, PlacedThread["state"]>();
  const look = (one: PlacedThread) => {
    const isNew = isNews(one, { sinceMs: 100, known });
    known.set(one.id, one.state);
    return isNew;
  };
  expect(look(thread("old", { state: "running" }))).toBe(false);
  expect(look(thread("new", { state: "running", createdAt: 100 }))).toBe(true);
  expect(look(thread("new", { createdAt: 100 }))).toBe(false);
  expect(look(thread("old", { state: "waiting_for_person" }))).toBe(true);
  expect(look(thread("old", { state: "waiting_for_person" }))).toBe(false);
  expect(look(thread("old", { state: "with_person" }))).toBe(false);
  expect(look(thread("old", { state: "waiting_for_person" }))).toBe(true);
});

test("a call that waits for an operator's approval is news, and said in the notice", () => {
  const asking = thread("a", { state: "running", approval: "operator" });
  const known = new Map([["a", "running"]]);
  expect(isNews(asking, { sinceMs: 0, known })).toBe(true);
  expect(isNews(asking, { sinceMs: 0, known: new Map([["a", wantOf(asking)]]) })).toBe(false);
  expect(isNews(thread("a", { state: "running", approval: "visitor" }), { sinceMs: 0, known })).toBe(false);
  expect(noticeOf(asking).title).toBe("A call waits for approval");
});

test("who has waited longest for a person comes first, whatever was said since", () => {
  const waits = (id: string, waitingSince: number, updatedAt: number) =>
    thread(id, { state: "waiting_for_person", updatedAt, handoff: { askedBy: null, waitingSince } });
  const all = withListed(NO_THREADS, [waits("late", 30, 40), waits("first", 10, 50), waits("next", 20, 60)]);
  expect(fitting(all, ({ state }) => state === "waiting_for_person").map(({ id }) => id)).toEqual([
    "first",
    "next",
    "late",
  ]);
});

test("the browser's notice names the conversation, and nothing that was said", () => {
  const waiting = thread("order 7", {
    state: "waiting_for_person",
    handoff: { askedBy: "model", reason: "My secret" },
  });
  expect(noticeOf(waiting)).toEqual({ title: "Waiting for a person", body: "order 7 in shop" });
  expect(noticeOf(thread("order 8")).title).toBe("A new conversation");
});

test("a message is for the operator who has taken its conversation, and for nobody else", () => {
  const taken = { ...thread("order 7"), state: "with_person" as const, updatedAt: 20 };
  const by = (name: string) => ({ ...taken, handoff: { askedBy: null, with: name } });
  expect(isAnswerTo("ada", by("ada"), 10)).toBe(true);
  // It was taken, or given a state: no message came.
  expect(isAnswerTo("ada", by("ada"), 20)).toBe(false);
  expect(isAnswerTo("ada", by("ben"), 10)).toBe(false);
  expect(isAnswerTo("ada", { ...by("ada"), state: "idle" }, 10)).toBe(false);
  expect(noticeOf(by("ada")).title).toBe("The visitor answered you");
});

test("the inbox begins with the operator's own queues, what is in none, and what they have taken", () => {
  const all = [
    thread("none"),
    thread("returns", { queue: "returns" }),
    thread("sales", { queue: "sales" }),
    thread("taken", { queue: "sales", state: "with_person", handoff: { askedBy: null, with: "kim" } }),
  ];
  const shown = (queue: string, queues?: string[]) =>
    all.filter(shownIn(queue, { name: "kim", ...(queues ? { queues } : {}) })).map(({ id }) => id);
  expect(shown("")).toEqual(["none", "returns", "sales", "taken"]);
  expect(shown("", ["returns"])).toEqual(["none", "returns", "taken"]);
  expect(shown(EVERY, ["returns"])).toEqual(["none", "returns", "sales", "taken"]);
  expect(shown("sales", ["returns"])).toEqual(["sales", "taken"]);
});
