// For src/messengers/, src/http/messengers.ts
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { loadAdapter } from "../../src/messengers/accounts.ts";
import { partsOf } from "../../src/messengers/parts.ts";
import { platformOf } from "../../src/messengers/platforms.ts";
import { StoreUnavailable } from "../../src/store.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { hold, say } from "../support/servers/model-server.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { startTestService } from "../support/servers/service.ts";
import { PLATFORMS } from "./each-platform.ts";
import { VERIFY } from "./platforms/whatsapp.ts";
import { postTo } from "./scripted-platform.ts";
import { transportChannel } from "./transport-channel.ts";

const WAIT = { timeout: 20_000, interval: 20 };
const SLUG = "bot";
const platform = (name: string) => {
  const found = PLATFORMS.find((one) => one.name === name);
  if (!found) throw new Error(`Cannot find ${name}`);
  return found;
};

async function opened(): Promise<Store> {
  const store = await openEmbeddedStore({ dataDir: temporaryFolder(), clock: systemClock });
  onTestFinished(() => store.close());
  return store;
}

describe("a messenger", () => {
  it.each(PLATFORMS)(
    "of $name is answered 503 where its message is not saved, and its repeat is said",
    async (one) => {
      const there = await one.start();
      const store = await opened();
      let failures = 1;
      const failing: Store = {
        ...store,
        admitUser: (...asked) =>
          failures-- > 0 ? Promise.reject(new StoreUnavailable("admit a user")) : store.admitUser(...asked),
      };
      const { model } = await openScriptedModel(["Here I am"]);
      const channels = [transportChannel(SLUG, there.messenger)];
      const { url } = await startTestService({ store: failing, model, channels });
      const said = { chat: one.direct("77"), user: "77", text: "Hello", nth: 1 };
      const { headers, body } = there.request(said);
      const at = `${url}/v1/messengers/${SLUG}`;
      expect(await postTo(at, { headers, body })).toBe(503);
      // As Slack marks it.
      expect(await postTo(at, { headers: { ...headers, "x-slack-retry-num": "1" }, body })).toBe(200);
      await expect.poll(() => there.shown(said.chat).map(({ text }) => text), WAIT).toEqual(["Here I am"]);
    },
  );

  it("has no address on a channel without one, and with MESSENGERS=off; what waits is brought by who has it on", async () => {
    const one = platform("telegram");
    const there = await one.start();
    const store = await opened();
    const { model } = await openScriptedModel(["Late"]);
    const channels = [transportChannel(SLUG, there.messenger), transportChannel("plain", there.messenger)];
    delete channels[1]?.messenger;
    const off = await startTestService({ store, model, channels, env: { MESSENGERS: "off" } });
    const said = { chat: "77", user: "77", text: "Hello", nth: 1 };
    expect(await there.say(`${off.url}/v1/messengers/${SLUG}`, said)).toBe(404);
    const on = await startTestService({ store, model, channels });
    expect(await there.say(`${on.url}/v1/messengers/plain`, said)).toBe(404);
    expect(await there.say(`${on.url}/v1/messengers/nowhere`, said)).toBe(404);
    expect(await there.say(`${on.url}/v1/messengers/${SLUG}`, said)).toBe(200);
    await expect.poll(() => there.shown("77").length, WAIT).toBe(1);
  });

  it("is served by an instance of its own, which answers nothing else (`messengers serve`)", async () => {
    const there = await platform("telegram").start();
    const store = await opened();
    const { model } = await openScriptedModel(["Hi"]);
    const channels = [transportChannel(SLUG, there.messenger)];
    const only = await startTestService({ store, model, channels, env: { MESSENGERS: "only" } });
    const status = async (path: string) => (await fetch(`${only.url}${path}`)).status;
    expect(await status("/health")).toBe(200);
    for (const path of ["/console", "/v1/operator/me", "/v1/threads", "/v1/widget/threads", "/"])
      expect(await status(path)).toBe(404);
    const said = { chat: "77", user: "77", text: "Hello", nth: 1 };
    expect(await there.say(`${only.url}/v1/messengers/${SLUG}`, said)).toBe(200);
    await expect.poll(() => there.shown("77").map(({ text }) => text), WAIT).toEqual(["Hi"]);
  });

  it("whose variable is unset is answered 503, and says so in the log once", async () => {
    const there = await platform("telegram").start();
    const settings = { ...there.messenger.settings, botToken: "$CHANNEL_NO_SUCH_TOKEN" };
    const channels = [transportChannel(SLUG, { ...there.messenger, settings })];
    const service = await startTestService({ channels });
    const said = { chat: "77", user: "77", text: "Hello", nth: 1 };
    expect(await there.say(`${service.url}/v1/messengers/${SLUG}`, said)).toBe(503);
  });

  it("says what to install where its package is missing", async () => {
    const load = () =>
      Promise.reject(Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" }));
    const silent = { child: () => silent, debug() {}, info() {}, warn() {}, error() {} };
    await expect(loadAdapter({ ...platformOf("slack"), load }, {}, silent)).rejects.toThrow(
      "@chat-adapter/slack is missing: npm install @chat-adapter/slack",
    );
  });

  it("gets nothing of a thread that is deleted while its reply is written", async () => {
    const there = await platform("telegram").start();
    const store = await opened();
    const { model, server } = await openScriptedModel([[hold(), say("Never seen")], "Hello again"]);
    const service = await startTestService({
      store,
      model,
      channels: [transportChannel(SLUG, there.messenger)],
    });
    const at = `${service.url}/v1/messengers/${SLUG}`;
    await there.say(at, { chat: "77", user: "77", text: "Hello", nth: 1 });
    await expect.poll(() => server.requests.length, WAIT).toBe(1);
    const [user] = await store.users(SLUG);
    const [thread] = await store.threads(SLUG, user?.userId ?? "");
    await service.threads.forgetting.thread(SLUG, thread?.uid ?? "");
    server.release();
    await expect.poll(() => there.say(at, { chat: "77", user: "77", text: "New", nth: 2 }), WAIT).toBe(200);
    await expect.poll(() => there.shown("77").map(({ text }) => text), WAIT).toEqual(["Hello again"]);
  });

  it("gets messages in the order of the thread, be it that the process that stored the first died before it queued it", async () => {
    const there = await platform("telegram").start();
    const store = await opened();
    const { outbox } = store;
    if (!outbox) throw new Error("Cannot test: the store has no outbox");
    let dies = false;
    const queue: typeof outbox.queue = (refs) => {
      if (!dies) return outbox.queue(refs);
      dies = false;
      return Promise.resolve();
    };
    const { model } = await openScriptedModel(["Hello"]);
    const channels = [transportChannel(SLUG, there.messenger, { handoff: { enabled: true } })];
    const service = await startTestService({
      store: { ...store, outbox: { ...outbox, queue } },
      model,
      channels,
    });
    await there.say(`${service.url}/v1/messengers/${SLUG}`, { chat: "77", user: "77", text: "Hi", nth: 1 });
    await expect.poll(() => there.shown("77").length, WAIT).toBe(1);
    const [user] = await store.users(SLUG);
    const [thread] = await store.threads(SLUG, user?.userId ?? "");
    const named = { slug: SLUG, uid: thread?.uid ?? "", name: "ann" };
    const epoch = await service.threads.people.take({ ...named, epoch: 0 });
    dies = true;
    await service.threads.people.say({ ...named, epoch, text: "First", clientMessageId: null });
    await expect.poll(() => dies, WAIT).toBe(false);
    await service.threads.people.say({ ...named, epoch, text: "Second", clientMessageId: null });
    await expect
      .poll(() => there.shown("77").map(({ text }) => text), WAIT)
      .toEqual(["Hello", "First", "Second"]);
  });

  it("of WhatsApp answers the question whether the address is ours, to who knows the verify token", async () => {
    const there = await platform("whatsapp").start();
    const { url } = await startTestService({ channels: [transportChannel(SLUG, there.messenger)] });
    const ask = (token: string) =>
      fetch(
        `${url}/v1/messengers/${SLUG}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`,
      );
    const right = await ask(VERIFY);
    expect([right.status, await right.text()]).toEqual([200, "1158201444"]);
    expect((await ask("wrong")).status).toBe(403);
  });
});

describe("a long text", () => {
  const size = { mostChars: 200, lengthOf: (text: string) => text.length };

  it("is cut at paragraphs, lines and words, and has everything in its parts", () => {
    const text = Array.from(
      { length: 60 },
      (_, nth) => `Sentence ${nth}.${nth % 5 === 4 ? "\n\n" : ""}`,
    ).join(" ");
    const parts = partsOf(text, size);
    expect(parts.every((part) => part.length <= size.mostChars)).toBe(true);
    expect(parts.join(" ").replaceAll(/\s+/g, " ")).toBe(text.replaceAll(/\s+/g, " ").trim());
  });

  it("keeps a block of code a block in each part", () => {
    const code = Array.from({ length: 40 }, (_, nth) => `const line${nth} = ${nth};`).join("\n");
    for (const part of partsOf(`Look:\n\n\`\`\`js\n${code}\n\`\`\`\n\nDone.`, size)) {
      expect(part.length).toBeLessThanOrEqual(size.mostChars + 16);
      expect((part.match(/```/g) ?? []).length % 2).toBe(0);
    }
  });

  it("grows only in its last part", () => {
    const words = Array.from({ length: 300 }, (_, nth) => `word${nth}`).join(" ");
    let before: string[] = [];
    for (let end = 1; end < words.length; end += 7) {
      const parts = partsOf(words.slice(0, end), size);
      expect(parts.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
      before = parts;
    }
  });

  it("of characters that none may be cut in keeps each whole", () => {
    for (const part of partsOf("😀".repeat(500), size)) expect(part).toMatch(/^😀+$/u);
  });
});
