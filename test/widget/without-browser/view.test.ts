// For src/widget/view/view-model.ts, src/widget/view/view-state.ts, src/widget/run/messages/transcript.ts,
// src/widget/run/messages/titled-step.ts
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { titled } from "../../../src/widget/run/messages/titled-step.ts";
import { readHistory } from "../../../src/widget/service/read-history.ts";
import * as en from "../../../src/widget/strings/en.ts";
import { languageOf } from "../../../src/widget/strings/language.ts";
import { translations } from "../../../src/widget/strings/languages.ts";
import { openConversation } from "./page.ts";

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test.each([
  [1, 29, false],
  [1, 30, false],
  [2, 30, true],
  // Long messages make a page shorter.
  [2, 3, true],
])("from message %i on %i are told, and there are earlier ones: %s", async (first, length, hasEarlier) => {
  const items = Array.from({ length }, (_, n) => ({ id: String(first + n), content: "" }));
  const history = await readHistory(
    () => Promise.resolve(Response.json({ items })),
    { visitorToken: "v", threadId: "t" },
    null,
  );
  expect(history.messages).toHaveLength(length);
  expect(history.hasEarlier).toBe(hasEarlier);
});

test.each([
  ["buy", "buy", "Kaufen"],
  ["findProducts#2", "find products", "Suchen"],
  ["buy", "", "Kaufen"],
  ["buy", "Looking for a mug", "Looking for a mug"],
  ["other", "other", "other"],
  ["other", "", "other"],
])("a step %s that says %o is shown as %o", (id, text, shown) => {
  const titles = new Map([
    ["buy", "Kaufen"],
    ["findProducts", "Suchen"],
  ]);
  const step = titled({ id, phase: "running", text }, { titleOf: (tool) => titles.get(tool) });
  expect(step).toEqual({ id, phase: "running", text: shown });
});

test("the page's language is told with each message", async () => {
  const { conversation, site } = openConversation();
  await conversation.send("Grüezi", null);
  expect(site.asked.at(-1)?.body).toMatchObject({ text: "Grüezi", locale: "de-CH" });
});

test("an Enter while a reply streams sends its text when the reply is over", async () => {
  const { conversation, site } = openConversation();
  const first = conversation.send("One", null);
  conversation.queue("Two");
  expect(conversation.view.state).toMatchObject({ draft: "Two", isQueued: true });
  await first;
  await vi.waitFor(() => expect(site.asked.at(-1)?.body).toMatchObject({ text: "Two" }));
  await vi.waitFor(() => expect(conversation.view.state).toMatchObject({ phase: "idle", draft: "" }));
});

test("what is queued stays in the composer where the reply fails, or the visitor writes on", async () => {
  const { conversation, site } = openConversation();
  site.streams.push([{ type: "error", message: "The model does not answer" }]);
  const failing = conversation.send("One", null);
  conversation.queue("Two");
  await failing;
  const second = conversation.send("Three", null);
  conversation.queue("Four");
  conversation.writeDraft("Four, and more");
  await second;
  await Promise.resolve();
  expect(conversation.view.state).toMatchObject({ draft: "Four, and more", isQueued: false });
  const said = site.asked.flatMap(({ path, body }) => (path === "/messages" ? [body] : []));
  expect(said).toMatchObject([{ text: "One" }, { text: "Three" }]);
});

test("a reply that the model did not end of itself is marked", async () => {
  const { conversation, site } = openConversation();
  site.streams.push([
    { type: "delta", text: "And so" },
    { type: "done", elapsedMs: 1, finishReason: "length" },
  ]);
  await conversation.send("Tell me all", null);
  expect(conversation.view.state.messages.map(({ isCutOff }) => isCutOff)).toEqual([false, true]);
  await conversation.send("Go on", null);
  expect(conversation.view.state.messages.at(-1)?.isCutOff).toBe(false);
});

test.each(Object.entries(translations).filter(([code]) => code !== "en"))(
  "the panel's texts are in words of their own in %s",
  (_code, strings) => {
    for (const [name, text] of Object.entries(strings)) {
      const english = { ...en.inScript, ...en.loaded }[name as keyof typeof strings];
      expect([name, text.trim()]).not.toEqual([name, ""]);
      // A single word may be the same.
      if (english.includes(" ")) expect([name, text]).not.toEqual([name, english]);
    }
  },
);

test("a language speaks at the launcher before its texts are loaded, and in the panel after", () => {
  const wanted = ["tlh", "de-CH", "fr"];
  expect(languageOf(wanted, {}, null)).toMatchObject({ code: "de", tag: "de-CH", dir: "ltr" });
  expect(languageOf(wanted, {}, null).strings).toMatchObject({ open: "Chat öffnen", retry: "Try again" });
  expect(languageOf(wanted, { open: "Auf!" }, translations).strings).toMatchObject({
    open: "Auf!",
    retry: "Erneut versuchen",
    send: "Senden",
  });
  expect(languageOf(["en", "de-AT", "en-GB"], {}, null)).toMatchObject({ code: "en", tag: "en-GB" });
  expect(languageOf(["ar"], {}, translations).dir).toBe("rtl");
  expect(languageOf(["en_US", "de_DE", ""], {}, translations).tag).toBe("en");
});

test.each(["fr-FRA", "fr-FR-CH", "fr-FR-utf8", "fr-12"])(
  "a page in %s, by which no browser writes times, is in French",
  (lang) => {
    const { code, tag } = languageOf([lang, "en-GB"], {}, translations);
    expect([code, new Date(0).toLocaleString(tag)]).toEqual(["fr", new Date(0).toLocaleString("fr")]);
  },
);

test("what failed beside a reply stays said when the reply ends; what was said of the reply goes", () => {
  const { view } = openConversation().conversation;
  const { key } = view.addReply();
  for (const [text, isAlert, left] of [
    ["Something went wrong.", true, "Something went wrong."],
    ["Reconnecting…", false, undefined],
  ] as const) {
    view.notify(text, isAlert);
    view.settle(key);
    expect(view.state.notice?.text).toBe(left);
  }
});
