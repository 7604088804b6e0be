// For src/widget/run/thread/thread-feed.ts, src/widget/run/thread/followed-thread.ts, src/widget/run/messages/with-item.ts
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Conversation } from "../../../src/widget/run/conversation.ts";
import { followThread } from "../../../src/widget/run/thread/followed-thread.ts";
import type { ConversationDependencies } from "../../../src/widget/run/conversation-dependencies.ts";
import { ShownReply } from "../../../src/widget/run/tab/shown-reply.ts";
import { newSavedRun } from "../../../src/widget/run/tab/saved-run.ts";
import { listThreads } from "../../../src/widget/run/thread/thread-list.ts";
import { Refused, Unreachable } from "../../../src/widget/service/widget-api.ts";
import type { ApiRequest } from "../../../src/widget/service/widget-api.ts";
import { ViewModel } from "../../../src/widget/view/view-model.ts";
import { element, openSite, tabStorage } from "./page.ts";
import type { Site } from "./page.ts";

let site: Site;
/** The pages of a test are shown until it is over. */
let isOver = false;
let conversations: Conversation[] = [];

beforeEach(() => {
  site = openSite();
  isOver = false;
  // By this chance a pause before the next attempt is none.
  vi.spyOn(Math, "random").mockReturnValue(-1.5);
  vi.spyOn(console, "warn").mockImplementation(() => {});
});

afterEach(() => {
  isOver = true;
  for (const conversation of conversations) conversation.lookChanged();
  conversations = [];
  feeds = [];
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A feed that a page has opened. */
interface OpenFeed {
  threadId: string;
  after: string | null;
  token: string | undefined;
  signal: AbortSignal | undefined;
  /** Nobody reads it any more. */
  left: Promise<void>;
  tell(...lines: object[]): void;
  close(): void;
}

let feeds: OpenFeed[] = [];

function openFeed({ path, visitorToken, signal }: ApiRequest): Response {
  const { pathname, searchParams } = new URL(path, "http://service");
  let write = (_text: string) => {};
  let close = () => {};
  let leave = () => {};
  const left = new Promise<void>((resolve) => (leave = resolve));
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      write = (text) => attempt(() => controller.enqueue(new TextEncoder().encode(text)));
      close = () => attempt(() => controller.close());
      signal?.addEventListener("abort", () => attempt(() => controller.error(signal.reason)));
    },
    cancel: () => leave(),
  });
  feeds.push({
    threadId: pathname.split("/")[2] ?? "",
    after: searchParams.get("after"),
    token: visitorToken,
    signal,
    left,
    tell: (...lines) => write(lines.map((line) => `${JSON.stringify(line)}\n`).join("")),
    close: () => close(),
  });
  return new Response(body);
}

/** The other end may have closed it. */
function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // It is closed.
  }
}

/** Answers that wait until the test lets them go, by path. */
const held = new Map<string, Promise<void>>();

/** A tab whose panel is open, with its feed. */
function tab({ isSeen = (): boolean => true } = {}) {
  const { host, events } = element();
  const own = tabStorage();
  const conversation = new Conversation({
    async api(request) {
      if (request.path.includes("/events?")) {
        const status = site.refusals.get("feed")?.shift();
        if (status === undefined) return openFeed(request);
        site.refusals.set(request.path, [status]);
      }
      const answer = await site.api(request);
      await held.get(`${request.method ?? "POST"} ${request.path.split("?")[0]}`);
      return answer;
    },
    publishableKey: "pk_test",
    sharedStorage: site.shared,
    tabStorage: own,
    lockPrefix: "",
    host: { ...host, isSeen, isInView: () => !isOver },
  });
  conversations.push(conversation);
  conversation.complete({ followThread, listThreads });
  return { conversation, events, own };
}

type Tab = ReturnType<typeof tab>;

const texts = ({ conversation }: Tab) => conversation.view.state.messages.map(({ text }) => text);
const item = (id: number, content: string, more: object = {}) => ({
  type: "message",
  item: { id: String(id), role: id % 2 === 1 ? "user" : "assistant", content, createdAt: id, ...more },
});
const threadOf = ({ conversation }: Tab) => conversation.visitor.threadId ?? "";

/** A conversation with one message, as the history has it by now, and its feed. */
async function begun(options: Parameters<typeof tab>[0] = {}): Promise<{ one: Tab; feed: OpenFeed }> {
  const one = tab(options);
  site.streams.push([
    { type: "delta", text: "Hello!" },
    { type: "done", elapsedMs: 1 },
  ]);
  await one.conversation.send("Hi", null);
  await vi.waitFor(() => expect(feeds).toHaveLength(1));
  const [feed] = feeds;
  if (feed === undefined) throw new Error("No feed was opened");
  const said = site.asked.findLast(({ path }) => path === "/messages")?.body as Record<string, unknown>;
  const { clientMessageId } = said;
  site.history.set(threadOf(one), [item(1, "Hi", { clientMessageId }).item, item(2, "Hello!").item]);
  feed.tell({ type: "state", state: "idle" }, item(1, "Hi", { clientMessageId }), item(2, "Hello!"));
  await vi.waitFor(() =>
    expect(one.conversation.view.state.messages.map(({ id }) => id)).toEqual(["1", "2"]),
  );
  return { one, feed };
}

describe("the feed of the thread that is shown", () => {
  test("begins with the first message, from the first item on; each is shown once", async () => {
    const { one, feed } = await begun();
    expect(feed).toMatchObject({ threadId: threadOf(one), after: "" });
    feed.tell(item(2, "Hello!"), item(3, "From the phone"), item(3, "From the phone"));
    await vi.waitFor(() => expect(texts(one)).toEqual(["Hi", "Hello!", "From the phone"]));
  });

  test("ends where the tab goes into another conversation, and its late lines are nobody's", async () => {
    const { one, feed } = await begun();
    const before = threadOf(one);
    site.history.set("other", [item(1, "Another one").item]);
    const entering = one.conversation.enterThread("other");
    feed.tell(item(3, "Too late"));
    await entering;
    await vi.waitFor(() => expect(feeds).toHaveLength(2));
    expect(feed.signal?.aborted).toBe(true);
    expect(feeds[1]).toMatchObject({ threadId: "other", after: "1" });
    feeds[1]?.tell(item(2, "An answer"));
    await vi.waitFor(() => expect(texts(one)).toEqual(["Another one", "An answer"]));
    expect(before).not.toBe("other");
  });

  test("a line that is read after the thread was left is not shown in the next one", async () => {
    const { one, feed } = await begun();
    // The tab's thread is another one before the feed hears of it.
    one.own.write("thread", "other");
    feed.tell(item(3, "Too late"));
    await feed.left;
    expect(texts(one)).toEqual(["Hi", "Hello!"]);
  });

  test("is not kept by a closed panel, unless the visitor has spoken within the hour", async () => {
    let isOpen = true;
    const { one, feed } = await begun({ isSeen: () => isOpen });
    isOpen = false;
    one.conversation.lookChanged();
    expect(feed.signal?.aborted).toBe(false);
    feed.tell(item(3, "Are you there?"), item(4, "Yes"));
    await vi.waitFor(() => expect(one.conversation.view.state.unread).toBe(1));
    site.shared.write("spoken", Date.now() - 3_600_001);
    one.conversation.lookChanged();
    expect(feed.signal?.aborted).toBe(true);
    isOpen = true;
    one.conversation.lookChanged();
    await vi.waitFor(() => expect(feeds).toHaveLength(2));
    expect(feeds[1]?.after).toBe("4");
    expect(one.conversation.view.state.unread).toBe(0);
  });

  test("comes back with the last item that is shown, when it breaks off and when the browser is back", async () => {
    const { one, feed } = await begun();
    feed.close();
    await vi.waitFor(() => expect(feeds).toHaveLength(2), { timeout: 60_000 });
    feeds[1]?.tell(item(3, "Meanwhile"));
    await vi.waitFor(() => expect(texts(one)).toContain("Meanwhile"));
    one.conversation.connectionChanged();
    await vi.waitFor(() => expect(feeds).toHaveLength(3), { timeout: 60_000 });
    expect(feeds.map(({ after }) => after)).toEqual(["", "2", "3"]);
  });

  test("of an unknown visitor (401): the conversation is gone, and the next message makes another visitor", async () => {
    const { one, feed } = await begun();
    const before = feed.token;
    site.refusals.set("feed", [401]);
    site.refusals.set(`/threads/${threadOf(one)}/messages?limit=30`, [401]);
    feed.close();
    await vi.waitFor(() => expect(one.conversation.visitor.isUnknown).toBe(true), { timeout: 60_000 });
    await vi.waitFor(() => expect(texts(one)).toEqual([]));
    await one.conversation.send("Anew", null);
    await vi.waitFor(() => expect(feeds).toHaveLength(2), { timeout: 60_000 });
    expect(feeds[1]?.token).not.toBe(before);
  });

  test("that a service does not have (404): the conversation stays, and works as before", async () => {
    const { one, feed } = await begun();
    site.refusals.set("feed", [404]);
    feed.close();
    const reads = () => site.paths().filter((path) => path.includes("/messages?limit=30")).length;
    await vi.waitFor(() => expect(reads()).toBe(1), { timeout: 60_000 });
    expect(texts(one)).toEqual(["Hi", "Hello!"]);
    await one.conversation.send("Still here", null);
    expect(site.asked.findLast(({ path }) => path === "/messages")?.body).toMatchObject({
      text: "Still here",
      threadId: threadOf(one),
    });
  });

  test.each(["told", "refused"])(
    "whose thread is deleted, which is %s before the run's stream ends: the tab leaves it when that has ended",
    async (how) => {
      const { one, feed } = await begun();
      let end = () => {};
      const { api } = site;
      site.api = async (request) => {
        if (request.path !== "/messages") return await api(request);
        const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
          start(controller) {
            const write = (line: object) =>
              controller.enqueue(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
            write({ type: "delta", text: "Begun" });
            end = () => {
              write({ type: "error", code: "deleted", message: "This conversation was deleted" });
              controller.close();
            };
          },
        });
        return new Response(body);
      };
      const sending = one.conversation.send("A long one", null);
      await vi.waitFor(() => expect(texts(one).at(-1)).toBe("Begun"));
      const history = `/threads/${threadOf(one)}/messages?limit=30`;
      site.refusals.set(history, [404]);
      if (how === "refused") site.refusals.set("feed", [404]);
      else feed.tell({ type: "deleted" });
      feed.close();
      const isTaken = () =>
        how === "refused" ? site.refusals.get("feed")?.length === 0 : feeds.length === 2;
      await vi.waitFor(() => expect(isTaken()).toBe(true), { timeout: 60_000 });
      end();
      await sending;
      await vi.waitFor(() => expect(one.conversation.visitor.threadId).toBeNull());
      await vi.waitFor(() => expect(texts(one)).toEqual([]));
      expect(site.paths().filter((path) => path === `GET ${history}`)).toHaveLength(1);
    },
  );

  test("a reset reads the history, and nothing that went back stays", async () => {
    const { one, feed } = await begun();
    feed.tell(item(3, "Lost in a failover"));
    await vi.waitFor(() => expect(texts(one)).toContain("Lost in a failover"));
    feed.tell({ type: "reset" }, { type: "state", state: "idle" });
    await vi.waitFor(() => expect(texts(one)).toEqual(["Hi", "Hello!"]));
  });

  test("a reset whose history cannot be read opens the feed anew", async () => {
    const { one, feed } = await begun();
    site.refusals.set(`/threads/${threadOf(one)}/messages?limit=30`, [503]);
    feed.tell({ type: "reset" });
    await vi.waitFor(() => expect(feeds).toHaveLength(2));
    expect(feed.signal?.aborted).toBe(true);
    expect(feeds[1]?.after).toBe("2");
  });
});

describe("runs that others began", () => {
  const streams = () => site.paths().filter((path) => path.includes("/stream"));

  test("are read along with by name, once; those of this tab are not", async () => {
    const { one, feed } = await begun();
    const own = site.asked.findLast(({ path }) => path === "/messages");
    expect(own).toBeDefined();
    expect(streams()).toEqual([]);
    site.streams.push([
      { type: "delta", text: "For the phone" },
      { type: "done", elapsedMs: 1 },
    ]);
    const running = { type: "state", state: "running", runId: "r2" };
    feed.tell(item(3, "From the phone"), running, item(4, "For the phone"), { type: "state", state: "idle" });
    await vi.waitFor(() => expect(texts(one)).toEqual(["Hi", "Hello!", "From the phone", "For the phone"]));
    expect(streams()).toEqual([`GET /threads/${threadOf(one)}/stream?run=r2`]);
    expect(one.conversation.view.state.messages.map(({ id }) => id)).toEqual(["1", "2", "3", "4"]);
    expect(one.conversation.view.state.phase).toBe("idle");
    // A feed that comes back begins with a state, which may be an old one; what follows is read in order.
    feed.tell(running, item(5, "And again"));
    await vi.waitFor(() => expect(texts(one)).toContain("And again"));
    expect(streams()).toHaveLength(1);
  });

  test("whose item is there before their stream has ended: it is whole, and nothing is added to it", () => {
    const { host } = element();
    const view = new ViewModel("", () => {});
    const { key } = view.addReply();
    // A cast: nothing else is asked for.
    const reply = new ShownReply({ view, host } as ConversationDependencies, key);
    reply.add({ type: "delta", text: "Half" });
    view.edit(key, (shown) => ({ ...shown, id: "2", text: "Half and half" }));
    reply.add({ type: "delta", text: " and half" });
    reply.add({ type: "step", id: "late", phase: "running", text: "late" });
    reply.rewind(reply.beginning());
    expect(view.message(key)).toMatchObject({ text: "Half and half", steps: [] });
    view.edit(key, (shown) => ({ ...shown, text: "" }));
    view.settle(key);
    expect(view.message(key)?.id).toBe("2");
  });

  test("that wait for a page: their text stays, and is not told twice when they go on", async () => {
    const { one, feed } = await begun();
    site.streams.push(
      [
        { type: "delta", text: "Let me see. " },
        { type: "tool_call", callId: "c", tool: "buy", arguments: {} },
      ],
      [
        { type: "delta", text: "Let me see. " },
        { type: "delta", text: "Bought." },
        { type: "done", elapsedMs: 1 },
      ],
    );
    feed.tell(item(3, "Buy it"), { type: "state", state: "running", runId: "r2" });
    await vi.waitFor(() => expect(texts(one).at(-1)).toBe("Let me see. "));
    await vi.waitFor(() => expect(one.conversation.view.state.phase).toBe("idle"));
    const id = { clientMessageId: "sent in vain" };
    site.shared.write("unsent", [{ ...id, text: "Buy it", context: null }]);
    feed.tell({ type: "state", state: "awaiting", runId: "r2" }, item(3, "Buy it", id));
    await vi.waitFor(() => expect(site.shared.read("unsent")).toEqual([]));
    expect(streams()).toHaveLength(1);
    feed.tell({ type: "state", state: "running", runId: "r2" });
    await vi.waitFor(() => expect(texts(one).at(-1)).toBe("Let me see. Bought."));
    feed.tell(item(4, "Let me see. Bought."), { type: "state", state: "idle" });
    await vi.waitFor(() => expect(one.conversation.view.state.messages.at(-1)?.id).toBe("4"));
    expect(texts(one)).toEqual(["Hi", "Hello!", "Buy it", "Let me see. Bought."]);
    expect(streams()).toHaveLength(2);
  });
});

describe("what the history has", () => {
  const ids = ({ conversation }: Tab) => conversation.view.state.messages.map(({ id }) => id);
  const RUNNING = { type: "state", state: "running", runId: "r2" };
  const lastSaid = () => {
    const body = site.asked.findLast(({ path }) => path === "/messages")?.body as { [name: string]: string };
    const { clientMessageId = "", text = "" } = body;
    return { clientMessageId, text };
  };

  /** A message that arrived, of which the feed tells, as item 3, while each attempt to send it has no answer. */
  async function sayUnanswered(...later: object[]): Promise<{ one: Tab; feed: OpenFeed }> {
    const { one, feed } = await begun();
    const { api } = site;
    const lost: (() => void)[] = [];
    site.api = (request) => {
      if (request.path !== "/messages") return api(request);
      site.asked.push(request);
      return new Promise((_resolve, reject) => lost.push(() => reject(new Unreachable(null))));
    };
    const sending = one.conversation.send("Buy it", null);
    await vi.waitFor(() => expect(lost).toHaveLength(1));
    const { clientMessageId } = lastSaid();
    feed.tell(RUNNING, item(3, "Buy it", { clientMessageId }), ...later);
    await vi.waitFor(() => expect(ids(one)).toContain(String(3 + later.length)));
    const trying = setInterval(() => lost.shift()?.(), 1);
    await sending;
    clearInterval(trying);
    site.api = api;
    return { one, feed };
  }

  test("is shown as said, with its reply, also where no answer to it ever came", async () => {
    const { one } = await sayUnanswered(item(4, "Bought."));
    expect(texts(one)).toEqual(["Hi", "Hello!", "Buy it", "Bought."]);
    expect(ids(one)).toEqual(["1", "2", "3", "4"]);
    const { messages, phase } = one.conversation.view.state;
    expect(messages.map(({ problem }) => problem)).toEqual([null, null, null, null]);
    expect(phase).toBe("idle");
  });

  test("and has no reply yet: the run is lost for now, and a Retry says its message again, in its place", async () => {
    const { one, feed } = await sayUnanswered();
    const { messages } = one.conversation.view.state;
    expect(messages.map(({ problem }) => problem?.retry)).toEqual([
      undefined,
      undefined,
      undefined,
      "attach",
    ]);
    feed.tell(item(5, "Somebody else"), item(6, "Yes?"));
    await vi.waitFor(() => expect(texts(one)).toContain("Yes?"));
    site.streams.push([
      { type: "delta", text: "Bought." },
      { type: "done", elapsedMs: 1 },
    ]);
    const { clientMessageId } = lastSaid();
    const later = [item(3, "Buy it", { clientMessageId }), item(4, "Bought.")];
    later.push(item(5, "Somebody else"), item(6, "Yes?"));
    site.history.get(threadOf(one))?.push(...later.map((line) => line.item));
    await one.conversation.retry();
    expect(texts(one)).toEqual(["Hi", "Hello!", "Buy it", "Bought.", "Somebody else", "Yes?"]);
    expect(ids(one)).toEqual(["1", "2", "3", "4", "5", "6"]);
  });

  test("stays, whatever becomes of a run that is told again from its beginning", async () => {
    const { one, feed } = await begun();
    feed.tell(item(3, "From the phone"), item(4, "For the phone"));
    await vi.waitFor(() => expect(texts(one)).toHaveLength(4));
    site.history.get(threadOf(one))?.push(item(3, "From the phone").item, item(4, "For the phone").item);
    const saved = newSavedRun({ ...lastSaid(), context: null }, threadOf(one));
    one.own.write("run", { ...saved, runId: "r1" });
    site.refusals.set(`/threads/${threadOf(one)}/stream?run=r1`, Array<number>(20).fill(0));
    expect(await one.conversation.resume()).toBe(true);
    expect(texts(one)).toEqual(["Hi", "Hello!", "From the phone", "For the phone"]);
    expect(ids(one)).toEqual(["1", "2", "3", "4"]);
  });

  /** Requests that send a message wait here for what becomes of them. */
  function holdMessages(): { lost: ((error: Error) => void)[]; release: () => void } {
    const { api } = site;
    const lost: ((error: Error) => void)[] = [];
    site.api = (request) => {
      if (request.path !== "/messages") return api(request);
      site.asked.push(request);
      return new Promise((_resolve, reject) => lost.push(reject));
    };
    return { lost, release: () => (site.api = api) };
  }

  test.each<[string, number[], (string | null)[]]>([
    ["as it was before", [], [null, null]],
    ["with all that is being told", [4, 3], ["3", "4"]],
  ])("a reset while a message is sent, %s: that is shown once", async (_how, newer, own) => {
    const { one, feed } = await begun();
    const { lost, release } = holdMessages();
    const sending = one.conversation.send("Buy it", null);
    await vi.waitFor(() => expect(lost).toHaveLength(1));
    const { clientMessageId } = lastSaid();
    const items = [item(3, "Buy it", { clientMessageId }).item, item(4, "Bought.").item];
    site.history.get(threadOf(one))?.push(...items.filter(({ id }) => newer.includes(Number(id))));
    feed.tell({ type: "reset" }, { type: "state", state: "idle" }, item(0, "told after the reset"));
    await vi.waitFor(() => expect(texts(one)).toContain("told after the reset"));
    expect(ids(one).filter((id) => id !== "0")).toEqual(["1", "2", ...own]);
    expect(texts(one).filter((text) => text === "Buy it")).toHaveLength(1);
    release();
    lost[0]?.(new Refused(422, 1));
    await sending;
  });

  test("and a page just opened sends again: the message and its reply are shown once", async () => {
    const { one } = await begun();
    const { lost, release } = holdMessages();
    const other = tab();
    other.own.write("run", newSavedRun({ ...lastSaid(), context: null }, threadOf(one)));
    const resuming = other.conversation.resume();
    await vi.waitFor(() => expect(lost).toHaveLength(1));
    expect(texts(other)).toEqual(["Hi", "Hello!"]);
    expect(ids(other)).toEqual(["1", "2"]);
    release();
    lost[0]?.(new Refused(422, 1));
    await resuming;
  });

  test("of a thread that is gone counts for nothing in the next one: its feed begins at the first item", async () => {
    const { one, feed } = await begun();
    const { lost, release } = holdMessages();
    const sending = one.conversation.send("Buy it", null);
    await vi.waitFor(() => expect(lost).toHaveLength(1));
    feed.tell(item(3, "Buy it", { clientMessageId: lastSaid().clientMessageId }));
    await vi.waitFor(() => expect(ids(one)).toContain("3"));
    release();
    lost[0]?.(new Refused(404, 1));
    await sending;
    expect(texts(one)).toEqual(["Buy it"]);
    await vi.waitFor(() => expect(feeds.at(-1)).toMatchObject({ threadId: threadOf(one), after: "" }));
  });

  test("is not told twice by a run that was due and has been told by the feed", async () => {
    let isSeen = false;
    const { one, feed } = await begun({ isSeen: () => isSeen });
    feed.tell(item(3, "From the phone"), RUNNING, item(4, "For the phone"));
    await vi.waitFor(() => expect(texts(one)).toHaveLength(4));
    isSeen = true;
    one.conversation.lookChanged();
    await one.conversation.refresh();
    expect(site.paths().filter((path) => path.includes("/stream"))).toEqual([]);
  });
});

describe("a history that was long on its way", () => {
  test("does not take back what the feed told meanwhile", async () => {
    const { one, feed } = await begun();
    let letGo = () => {};
    const path = `GET /threads/${threadOf(one)}/messages`;
    held.set(path, new Promise((resolve) => (letGo = resolve)));
    const refreshing = one.conversation.refresh();
    feed.tell(item(3, "Newer"));
    await vi.waitFor(() => expect(texts(one)).toContain("Newer"));
    letGo();
    held.delete(path);
    await refreshing;
    expect(texts(one)).toEqual(["Hi", "Hello!", "Newer"]);
  });

  test("nor does it come into another conversation", async () => {
    const { one } = await begun();
    let letGo = () => {};
    const path = `GET /threads/${threadOf(one)}/messages`;
    held.set(path, new Promise((resolve) => (letGo = resolve)));
    const refreshing = one.conversation.refresh();
    site.history.set("other", [item(1, "Another one").item]);
    await one.conversation.enterThread("other");
    letGo();
    held.delete(path);
    await refreshing;
    expect(texts(one)).toEqual(["Another one"]);
  });

  test("of a list that was closed and opened again is not shown", async () => {
    const { one } = await begun();
    const { threads } = one.conversation;
    let letGo = () => {};
    held.set("GET /threads", new Promise((resolve) => (letGo = resolve)));
    const first = threads?.open();
    threads?.close();
    letGo();
    held.delete("GET /threads");
    await first;
    expect(one.conversation.view.state.threads).toBe(null);
  });
});

describe("a person who answers", () => {
  const person = ({ conversation }: Tab) => conversation.view.state.person ?? null;

  test("is waited for, is there, writes, and is gone; their words are unread where nobody looks", async () => {
    let isOpen = true;
    const { one, feed } = await begun({ isSeen: () => isOpen });
    feed.tell({ type: "state", state: "waiting_for_person", waitingSince: Date.now() });
    await vi.waitFor(() => expect(person(one)).toMatchObject({ type: "waiting" }));
    feed.tell({ type: "state", state: "with_person", with: "Ann" }, { type: "typing", name: "Ann" });
    await vi.waitFor(() => expect(person(one)).toEqual({ type: "here", name: "Ann", isTyping: true }));
    isOpen = false;
    feed.tell(item(4, "What is it?", { author: { type: "person", name: "Ann" } }));
    await vi.waitFor(() => expect(person(one)).toEqual({ type: "here", name: "Ann", isTyping: false }));
    expect(one.conversation.view.state.messages.at(-1)).toMatchObject({ text: "What is it?", author: "Ann" });
    expect(one.conversation.view.state.unread).toBe(1);
    feed.tell({ type: "state", state: "idle" });
    await vi.waitFor(() => expect(person(one)).toEqual({ type: "gone" }));
    feed.tell({ type: "state", state: "running", runId: "r9" });
    await vi.waitFor(() => expect(person(one)).toBeNull());
  });

  test("is waited for as long as it lasts, whatever the visitor's clock says", async () => {
    const hour = 3_600_000;
    const { one, feed } = await begun();
    // The service's clock is an hour behind the visitor's.
    const askedMs = Date.now();
    const waiting = { type: "state", state: "waiting_for_person", waitingSince: askedMs - hour };
    feed.tell(waiting);
    await vi.waitFor(() => expect(person(one)).toMatchObject({ type: "waiting" }));
    const shown = person(one);
    const sinceMs = shown?.type === "waiting" ? shown.sinceMs : 0;
    expect(sinceMs).toBeGreaterThanOrEqual(askedMs);
    expect(sinceMs).toBeLessThanOrEqual(Date.now());
    // A feed that comes back says it again.
    feed.tell(waiting, { type: "typing", name: "nobody" });
    await vi.waitFor(() => expect(person(one)).toEqual(shown));
  });

  test("is asked for, and waited for no longer; a refusal is told", async () => {
    const { one } = await begun();
    one.conversation.view.state.askPerson?.(true);
    one.conversation.view.state.askPerson?.(false);
    const path = `/threads/${threadOf(one)}/handoff`;
    await vi.waitFor(() => {
      const asked = site.asked.map((request) => request.path);
      expect(asked).toEqual(expect.arrayContaining([path, `${path}/cancel`]));
    });
  });

  test("is nobody's in the conversation that is entered next", async () => {
    const { one, feed } = await begun();
    feed.tell({ type: "state", state: "with_person", with: "Ann" });
    await vi.waitFor(() => expect(person(one)).not.toBeNull());
    site.history.set("other", [item(1, "Another one").item]);
    await one.conversation.enterThread("other");
    expect(person(one)).toBeNull();
  });
});
