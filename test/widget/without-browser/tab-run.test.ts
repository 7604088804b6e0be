// For src/widget/run/tab/
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Conversation } from "../../../src/widget/run/conversation.ts";
import type { ConversationHost } from "../../../src/widget/run/conversation-host.ts";
import { element, openSite, tabStorage } from "./page.ts";
import type { Site } from "./page.ts";

let site: Site;

beforeEach(() => {
  site = openSite();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function tab(host: ConversationHost) {
  const own = tabStorage();
  const { api, shared } = site;
  const options = { api, publishableKey: "pk_test", sharedStorage: shared, tabStorage: own, lockPrefix: "" };
  return { conversation: new Conversation({ ...options, host }), own };
}

test("a page that sends its next message when it hears of the end has that one saved", async () => {
  const { host } = element();
  const later: Promise<void>[] = [];
  const { conversation, own } = tab({
    ...host,
    emit: (name, detail) => {
      if (name === "state" && "state" in detail && detail.state === "idle" && later.length === 0)
        later.push(conversation.send("Two", null));
      return true;
    },
  });
  await conversation.send("One", null);
  expect(own.read("run")).toMatchObject({ message: { text: "Two" } });
  await Promise.all(later);
  expect(conversation.view.state.messages.map(({ text }) => text)).toEqual(["One", "Two"]);
  expect(own.read("run")).toBe(null);
});

test("a page without its second file has no tools for the agent, whose call is answered", async () => {
  const { host } = element();
  const { conversation } = tab({ ...host, toolPart: () => Promise.resolve(null) });
  site.streams.push(
    [{ type: "tool_call", tool: "buy", callId: "c1", arguments: {} }],
    [
      { type: "delta", text: "I cannot." },
      { type: "done", elapsedMs: 1 },
    ],
  );
  await conversation.send("Buy it", null);
  expect(site.paths()).toEqual(["/visitors", "/threads", "/messages", "/tool-results"]);
  expect(site.asked.at(-1)?.body).toMatchObject({ callId: "c1", tool: "buy", isError: true });
  expect(conversation.view.state.messages.map(({ text }) => text)).toEqual(["Buy it", "I cannot."]);
});

test("earlier messages that do not load while a reply streams are a notice, and the reply goes on", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const { host } = element();
  const { conversation } = tab(host);
  await conversation.send("One", null);
  const threadId = conversation.visitor.threadId ?? "";
  site.history.set(threadId, [{ id: "5", role: "user", content: "One" }]);
  await conversation.refresh();
  site.refusals.set(`/threads/${threadId}/messages?limit=30&before=5`, [503]);
  const sent = conversation.send("Two", null);
  await conversation.loadEarlier();
  expect(conversation.view.state).toMatchObject({ phase: "sending", notice: { retry: true } });
  await sent;
  expect(conversation.view.state.phase).toBe("idle");
});
