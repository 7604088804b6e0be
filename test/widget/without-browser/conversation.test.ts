// For src/widget/run/conversation.ts, src/widget/run/
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ErrorLine, Line } from "../../../machines/line.ts";
import { Conversation } from "../../../src/widget/run/conversation.ts";
import type { JsonStorage } from "../../../src/widget/service/json-storage.ts";
import { inScript as en } from "../../../src/widget/strings/en.ts";
import type { Tool } from "../../../src/widget/tools/tool.ts";
import { element, openSite, tabStorage } from "./page.ts";
import type { Site } from "./page.ts";

let site: Site;

beforeEach(() => {
  site = openSite();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const tool = (name: string): Tool => ({ name, source: "property", waitsForForm: false, execute: () => "" });

/** The conversation of a tab of this site. */
function tab(tools: Tool[] = [], own: JsonStorage = tabStorage()) {
  const { host, events } = element(tools);
  const { api, shared } = site;
  const publishableKey = "pk_test";
  const conversation = new Conversation({
    api,
    publishableKey,
    sharedStorage: shared,
    tabStorage: own,
    lockPrefix: "",
    host,
  });
  return { conversation, events, own };
}

/** Said in another tab: what a browser tells this one. */
async function storageChanged({ conversation }: { conversation: Conversation }, name: string) {
  site.shared.owns = (_event, asked) => asked === name;
  // A cast: this one field is all that a storage of this test is asked about.
  await conversation.storageChanged({} as StorageEvent);
}

test("F5: an error line that is no end of the run opens the run's stream again", async () => {
  vi.useFakeTimers();
  const { conversation, events } = tab();
  const delta = (text: string): Line => ({ type: "delta", text });
  site.streams.push(
    [delta("All "), { type: "error", code: "interrupted", message: "The store is away" }],
    [delta("All is "), { type: "error", code: "interrupted", message: "The store is away" }],
    [delta("All is well."), { type: "done", elapsedMs: 1 }],
  );
  const sent = conversation.send("How is it?", null);
  await vi.advanceTimersByTimeAsync(10_000);
  await sent;
  expect(conversation.view.state.messages.map(({ text }) => text)).toEqual(["How is it?", "All is well."]);
  expect(events.filter(([name]) => name === "error")).toEqual([]);
});

test("F5: a result whose stream moves to another instance is not posted again: the run is followed", async () => {
  vi.useFakeTimers();
  const { conversation } = tab([tool("buy")]);
  site.streams.push(
    [{ type: "tool_call", tool: "buy", arguments: {}, callId: "c1" }],
    [{ type: "error", code: "interrupted", message: "The store is away" }],
    [
      { type: "delta", text: "Bought." },
      { type: "done", elapsedMs: 1 },
    ],
  );
  const sent = conversation.send("Buy it", null);
  await vi.advanceTimersByTimeAsync(10_000);
  await sent;
  expect(conversation.view.state.messages.map(({ text }) => text)).toEqual(["Buy it", "Bought."]);
  expect(site.asked.filter(({ path }) => path === "/tool-results")).toHaveLength(1);
});

describe("before the first message", () => {
  test("nothing is made, whoever looks", async () => {
    const { conversation } = tab([tool("buy")]);
    await conversation.start();
    await conversation.toolsChanged();
    await conversation.refresh();
    expect(site.paths()).toEqual([]);
  });

  test("the catalog is kept, and posted with it", async () => {
    const { conversation } = tab([tool("buy")]);
    await conversation.start();
    await conversation.send("Hello", null);
    expect(site.paths()).toEqual(["/visitors", "/threads", "/tools", "/messages"]);
  });
});

describe("the page's catalog", () => {
  test("is not posted again where it did not change, or while nobody says a word", async () => {
    const tools = [tool("buy")];
    const { conversation } = tab(tools);
    await conversation.send("One", null);
    await conversation.send("Two", null);
    tools.push(tool("sell"));
    await conversation.toolsChanged();
    tools.pop();
    await conversation.toolsChanged();
    await conversation.send("Three", null);
    expect(site.paths().filter((path) => path === "/tools")).toHaveLength(1);
    tools.push(tool("sell"));
    await conversation.send("Four", null);
    expect(site.paths().slice(-2)).toEqual(["/tools", "/messages"]);
  });

  test("of which the service drops some is posted once, and the console says which", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { api } = site;
    site.api = async (request) => {
      const answer = await api(request);
      const headers = { "x-dropped-tools": "deep%2C%20%C3%BC, flat" };
      return request.path === "/tools" ? new Response(null, { status: 204, headers }) : answer;
    };
    const { conversation, events } = tab([tool("deep, ü"), tool("flat")]);
    await conversation.send("One", null);
    await conversation.send("Two", null);
    expect(site.paths().filter((path) => path === "/tools")).toHaveLength(1);
    const told = "The agent cannot be offered these tools: deep, ü, flat";
    expect(warned.mock.calls).toEqual([[`chat-agent: ${told}`]]);
    expect(events.filter(([name]) => name === "error")).toEqual([
      ["error", { code: "catalog_trimmed", message: told }],
    ]);
  });

  test("is posted when it has stopped changing", async () => {
    const { host } = element();
    const order: string[] = [];
    const { api, shared } = site;
    const conversation = new Conversation({
      api: (request) => (order.push(request.path), api(request)),
      publishableKey: "pk_test",
      sharedStorage: shared,
      tabStorage: tabStorage(),
      lockPrefix: "",
      host: {
        ...host,
        toolsSettled: () => Promise.resolve().then(() => void order.push("settled")),
        tools: () => Promise.resolve([tool("buy")]),
      },
    });
    await conversation.send("Hello", null);
    expect(order).toEqual(["/visitors", "/threads", "settled", "/tools", "/messages"]);
  });
});

describe("two tabs of one visitor", () => {
  test("a new conversation in one is none in the other, and what a third one begins with", async () => {
    const first = tab();
    await first.conversation.send("Hello", null);
    const second = tab();
    await second.conversation.start();
    const old = first.conversation.visitor.threadId;
    expect(second.conversation.visitor.threadId).toBe(old);
    await first.conversation.newThread();
    expect(first.conversation.visitor.threadId).toBe(null);
    await first.conversation.send("Anew", null);
    await storageChanged(second, "visitor");
    expect(second.conversation.visitor.threadId).toBe(old);
    expect(first.conversation.visitor.threadId).not.toBe(old);
    expect(tab().conversation.visitor.threadId).toBe(first.conversation.visitor.threadId);
    await second.conversation.send("Still here", null);
    expect(site.asked.at(-1)?.body).toMatchObject({ text: "Still here", threadId: old });
  });

  test("a tab that begins anew is there after a reload, too", async () => {
    const first = tab();
    await first.conversation.send("Hello", null);
    await first.conversation.newThread();
    const reloaded = tab([], first.own);
    await reloaded.conversation.start();
    expect(reloaded.conversation.visitor.threadId).toBe(null);
    expect(site.paths().filter((path) => path.startsWith("GET"))).toEqual([]);
  });

  test("a visitor forgotten in one is forgotten in the other", async () => {
    const first = tab();
    await first.conversation.send("Hello", null);
    const second = tab();
    await second.conversation.start();
    await first.conversation.reset();
    await storageChanged(second, "visitor");
    expect(second.own.read("thread")).toBe(null);
    await first.conversation.send("Somebody else", null);
    expect(second.conversation.visitor.threadId).toBe(first.conversation.visitor.threadId);
  });

  test("one that has left a deleted conversation stays out of the older ones, whatever the other stores", async () => {
    const { api } = site;
    site.api = async (request) => {
      if (!request.path.startsWith("/threads?")) return await api(request);
      return Response.json({ items: [{ threadId: "t-older", updatedAt: 1 }], next: null });
    };
    const first = tab();
    await first.conversation.send("Hello", null);
    const second = tab();
    await second.conversation.start();
    const { threadId } = second.conversation.visitor;
    site.refusals.set(`/threads/${threadId}/messages?limit=30`, [404]);
    await second.conversation.refresh();
    for (const name of ["visitor", "turn", "unsent"]) await storageChanged(second, name);
    expect(second.conversation.visitor.threadId).toBe(null);
    // What is begun there is in both.
    await first.conversation.newThread();
    await first.conversation.send("Anew", null);
    await storageChanged(second, "visitor");
    expect(second.conversation.visitor.threadId).toBe(first.conversation.visitor.threadId);
    expect(site.paths().at(-1)).toBe(`GET /threads/${first.conversation.visitor.threadId}/messages?limit=30`);
  });
});

describe("a token that the service gave in the place of the visitor's", () => {
  test("is used from then on, in each tab, which stays in its conversation", async () => {
    const first = tab();
    await first.conversation.send("Hello", null);
    const second = tab();
    await second.conversation.newThread();
    await second.conversation.send("Elsewhere", null);
    const threads = [first, second].map(({ conversation }) => conversation.visitor.threadId);

    first.conversation.visitor.replaceToken("fresh");
    await first.conversation.refresh();
    expect(site.asked.at(-1)).toMatchObject({ visitorToken: "fresh" });
    for (const { conversation } of [first, second]) await conversation.send("Goes on", null);
    const said = site.asked.filter(({ path }) => path === "/messages").slice(-2);
    expect(said.map(({ visitorToken }) => visitorToken)).toEqual(["fresh", "fresh"]);
    expect(said.map(({ body }) => (body as { threadId: string }).threadId)).toEqual(threads);
    expect(site.paths().filter((path) => path === "/visitors")).toHaveLength(1);
    // A tab that comes later begins with the conversation that the tabs share.
    expect(tab().conversation.visitor.threadId).toBe(threads[1]);
  });
});

describe("the thread that a page names", () => {
  test("is shown, and the next message goes there", async () => {
    const { conversation, events } = tab();
    await conversation.send("Hello", null);
    site.history.set("t-old", [{ id: "1", role: "assistant", content: "Long ago" }]);
    await conversation.enterThread("t-old");
    expect(conversation.view.state.messages.map(({ text }) => text)).toEqual(["Long ago"]);
    expect(events.at(-1)).toEqual(["thread", { threadId: "t-old" }]);
    await conversation.send("Go on", null);
    expect(site.asked.at(-1)?.body).toMatchObject({ text: "Go on", threadId: "t-old" });
  });

  test("is not the visitor's: the conversation that there was is shown, and the page hears of it", async () => {
    const { conversation, events } = tab();
    await conversation.send("Hello", null);
    const { threadId } = conversation.visitor;
    site.refusals.set("/threads/t-other/messages?limit=30", [404]);
    site.history.set(String(threadId), [{ id: "1", role: "user", content: "Hello" }]);
    await conversation.enterThread("t-other");
    expect(conversation.visitor.threadId).toBe(threadId);
    expect(conversation.view.state.messages[0]?.text).toBe("Hello");
    expect(events.at(-1)).toMatchObject(["error", { status: 404 }]);
  });
});

test("reset() leaves nothing in the storage of tab and browser", async () => {
  const { conversation, own } = tab([tool("buy")]);
  const kept = new Set<string>();
  for (const storage of [own, site.shared]) {
    const write = storage.write.bind(storage);
    storage.write = (name, value) => {
      if (value === null) kept.delete(name);
      else kept.add(name);
      write(name, value);
    };
  }
  conversation.writeDraft("half a tho");
  site.refusals.set("/messages", [403]);
  await conversation.send("Hello", null);
  conversation.writeDraft("another one");
  // A run that was lost stays saved, for a Retry.
  own.write("run", { phase: "talking", threadId: conversation.visitor.threadId });
  expect([...kept].sort()).toEqual(["catalog", "draft", "run", "spoken", "thread", "unsent", "visitor"]);
  await conversation.reset();
  expect([...kept]).toEqual([]);
  expect(conversation.view.state.draft).toBe("");
});

describe("what the service refuses", () => {
  test("a tool's result of a visitor whom it does not know any more: what was said can be said by the next one", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const { conversation, own } = tab([tool("buy")]);
    site.streams.push([{ type: "tool_call", tool: "buy", arguments: {}, callId: "c1" }]);
    site.refusals.set("/tool-results", [401]);
    site.refusals.set("/threads/t2/messages?limit=30", [401]);
    await conversation.send("Buy it", null);
    expect(conversation.view.state.messages.at(-1)?.problem).toEqual({ text: en.cut, retry: "attach" });
    own.write("run", { ...(own.read("run") as object), runId: "r1" });
    await conversation.retry();
    expect(conversation.view.state).toMatchObject({
      phase: "idle",
      notice: null,
      messages: [{ text: "Buy it", problem: { text: en.notSent, retry: "resend" } }],
    });
    expect(own.read("run")).toBe(null);
    await conversation.retry();
    expect(conversation.view.state.messages.at(-1)).toMatchObject({ text: "Buy it", problem: null });
    const said = site.asked.filter(({ path }) => path === "/messages");
    expect(new Set(said.map(({ visitorToken }) => visitorToken)).size).toBe(2);
  });

  test.each([
    ["/visitors", 401, "This chat is not set up correctly."],
    ["/visitors", 403, "This chat is not available at the moment."],
    ["/threads", 403, "You have no access to this chat. Sign in, or ask the owner of this site."],
    ["/messages", 403, "You have no access to this chat. Sign in, or ask the owner of this site."],
  ])("%s %i: the message says why, and can be sent again", async (path, status, words) => {
    const { conversation } = tab();
    site.refusals.set(path, [status]);
    await conversation.send("Hello", null);
    const { messages, phase } = conversation.view.state;
    expect(messages.map(({ problem }) => problem)).toEqual([{ text: words, retry: "resend" }]);
    expect(phase).toBe("blocked");
    await conversation.retry();
    expect(conversation.view.state).toMatchObject({ phase: "idle", notice: null });
    expect(site.asked.findLast((one) => one.path === "/messages")?.body).toMatchObject({ text: "Hello" });
  });

  test.each([
    ["/visitors", 403, { "/visitors": [403, 403, 403] }],
    ["/visitors", 401, { "/visitors": [401, 401] }],
    ["/threads", 403, { "/threads": [403], "/threads?limit=1": [403, 403] }],
    ["/threads", 403, { "/threads": [403], "/threads?limit=1": [401, 403] }],
  ])(
    "the first message at %s (%i): is the visitor's to send again, when the service lets them",
    async (...row) => {
      vi.useFakeTimers();
      const { conversation, events } = tab();
      for (const [path, statuses] of Object.entries(row[2])) site.refusals.set(path, [...statuses]);
      await conversation.send("Hello", null);
      expect(conversation.view.state.phase).toBe("blocked");
      await vi.advanceTimersByTimeAsync(120_000);
      const { phase, notice, messages } = conversation.view.state;
      expect({ phase, notice }).toEqual({ phase: "idle", notice: null });
      expect([...site.refusals.values()].flat()).toEqual([]);
      // It is not sent without being asked for, and nobody is told of each attempt.
      expect(messages.map(({ problem }) => problem?.retry)).toEqual(["resend"]);
      expect(site.paths()).not.toContain("/messages");
      expect(events.filter(([name]) => name === "error")).toHaveLength(1);
      await conversation.retry();
      expect(site.asked.findLast(({ path }) => path === "/messages")?.body).toMatchObject({ text: "Hello" });
    },
  );

  test.each([
    [403, "blocked", "You have no access to this chat. Sign in, or ask the owner of this site."],
    [503, "error", "The chat cannot be reached. Trying again…"],
    [0, "error", "The chat cannot be reached. Trying again…"],
  ])("a history (%i): says why, tells the page once, and is back by itself", async (status, phase, words) => {
    vi.useFakeTimers();
    const first = tab();
    await first.conversation.send("Hello", null);
    const { threadId } = first.conversation.visitor;
    const path = `/threads/${String(threadId)}/messages?limit=30`;
    site.refusals.set(path, [status, status, status]);
    site.history.set(String(threadId), [{ id: "1", role: "user", content: "Hello" }]);
    const { conversation, events } = tab();
    await conversation.start();
    expect(conversation.view.state).toMatchObject({ phase, notice: { text: words, retry: true } });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(conversation.view.state.messages[0]?.text).toBe("Hello");
    expect(conversation.view.state.notice).toBe(null);
    expect(site.refusals.get(path)).toEqual([]);
    expect(events.filter(([name]) => name === "error")).toHaveLength(1);
  });

  test("a history after a reload in the middle of a run: is loaded by itself, and the run goes on by its name", async () => {
    vi.useFakeTimers();
    const first = tab();
    await first.conversation.send("Hello", null);
    const { threadId } = first.conversation.visitor;
    site.refusals.set(`/threads/${String(threadId)}/messages?limit=30`, [0]);
    const message = { clientMessageId: "m1", text: "Tell me all", context: null };
    first.own.write("run", { phase: "talking", message, threadId, runId: "r1", atMs: Date.now() });
    const { conversation } = tab([], first.own);
    expect(await conversation.resume()).toBe(true);
    expect(conversation.view.state.notice?.retry).toBe(true);
    site.streams.push([
      { type: "delta", text: "All." },
      { type: "done", elapsedMs: 1 },
    ]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(site.paths()).toContain(`GET /threads/${String(threadId)}/stream?run=r1`);
    expect(first.own.read("run")).toBe(null);
    expect(conversation.view.state).toMatchObject({ phase: "idle", notice: null });
  });
});

describe("after a reload", () => {
  test("a first message that was not sent is there, and a Retry sends it", async () => {
    const before = tab();
    site.refusals.set("/visitors", [403]);
    await before.conversation.send("Hello", null);
    const { conversation } = tab();
    await conversation.start();
    const { messages } = conversation.view.state;
    expect(messages).toMatchObject([{ text: "Hello", problem: { text: en.notSent, retry: "resend" } }]);
    await conversation.retry();
    expect(conversation.view.state.messages).toMatchObject([{ text: "Hello", problem: null }]);
    expect(site.asked.findLast(({ path }) => path === "/messages")?.body).toMatchObject({ text: "Hello" });
  });

  /** What a reply says, on the page that saw its end and on the next one, which has its item alone. */
  async function shownTwice(said: string, end: Line, item: object) {
    const first = tab();
    const text = said === "" ? [] : [{ type: "delta", text: said } as const];
    site.streams.push([...text, end]);
    await first.conversation.send("Buy it", null);
    const createdAt = 1;
    site.history.set(first.conversation.visitor.threadId ?? "", [
      { id: "1", role: "user", content: "Buy it", createdAt },
      { id: "2", role: "assistant", createdAt, ...item },
    ]);
    const next = tab([], first.own);
    await next.conversation.start();
    return [first, next].map(({ conversation }) => {
      const { text: shown, problem } = conversation.view.state.messages.at(-1) ?? {};
      return [shown, problem?.text];
    });
  }

  const failed = en.failed;
  test.each<[name: string, said: string, end: Omit<ErrorLine, "type">, problem: string]>([
    [
      "its task",
      "",
      { code: "task_failed", message: "The shop is shut.", hint: "At nine." },
      "The shop is shut.",
    ],
    ["its task, after a word", "Well.", { code: "task_failed", message: "It is shut." }, "It is shut."],
    ["its budget", "So", { code: "budget_exceeded", message: "That is all." }, "That is all."],
    ["the service", "", { message: "The model does not answer" }, failed],
    ["the service, after a word", "And", { message: "The model does not answer" }, failed],
    // A cast: it is of a version to come.
    ["what is yet to come", "", { code: "worn_out" as "task_failed", message: "No more" }, failed],
  ])("a reply that failed by %s says so in the same words", async (_name, said, end, problem) => {
    const { hint: _, ...error } = end;
    const content = said === "" ? end.message : said;
    const shown = await shownTwice(said, { type: "error", ...end }, { content, error });
    expect(shown).toEqual([
      [said, problem],
      [said, problem],
    ]);
    // Where the history says why, its run is not asked.
    const asked = site.paths().filter((path) => path.includes("/stream"));
    expect(asked).toHaveLength(end.code === undefined ? 1 : 0);
  });

  test.each<[name: string, end: Line, problem: string | undefined]>([
    ["was stopped", { type: "error", code: "cancelled", message: "Cancelled" }, en.stopped],
    ["waited in vain", { type: "error", code: "expired", message: "No answer" }, en.expired],
    ["was superseded", { type: "error", code: "superseded", message: "Superseded" }, en.stopped],
    ["was cut off", { type: "done", elapsedMs: 1, finishReason: "length" }, undefined],
  ])("a reply that %s has its text: the history does not tell its end", async (_name, end, problem) => {
    expect(await shownTwice("Half", end, { content: "Half" })).toEqual([
      ["Half", problem],
      ["Half", undefined],
    ]);
  });
});
