// For src/messengers/, src/http/messengers.ts
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Channel } from "../../src/domain/channels/channel.ts";
import type { Store } from "../../src/store.ts";
import { TINY_PNG } from "../support/images.ts";
import { hold, say } from "../support/servers/model-server.ts";
import type { Script } from "../support/servers/model-server.ts";
import { startTestService } from "../support/servers/service.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { storeKinds } from "../support/stores/store-kinds.ts";
import type { TestDatabase } from "../support/stores/store-kinds.ts";
import { PLATFORMS } from "./each-platform.ts";
import type { PlatformCase } from "./each-platform.ts";
import { postTo } from "./scripted-platform.ts";
import { transportChannel } from "./transport-channel.ts";

const WAIT = { timeout: 20_000, interval: 20 };
const SLUG = "bot";

const cases = storeKinds.flatMap(({ name: kind, prepare }) =>
  PLATFORMS.map((platform) => ({ kind, prepare, ...platform })),
);

describe.each(cases)("$name on the $kind store", ({ prepare, ...platform }) => {
  let database: TestDatabase;
  let store: Store;

  beforeAll(async () => {
    database = await prepare();
  });
  beforeEach(async () => {
    await database.clear();
    store = await database.open();
    onTestFinished(() => store.close());
  });
  afterAll(() => database.remove());

  async function start(script: Script, more: Partial<Channel> = {}) {
    return startAt(platform, store, script, more);
  }

  it("has a message answered once, in the platform's form, however often it repeats it", async () => {
    const { there, url, server } = await start((_, nth) => `Reply **${nth}**!`);
    const chat = platform.direct("77");
    const said = { chat, user: "77", text: "Hello", nth: 1 };
    const statuses = await Promise.all([there.say(url, said), there.say(url, said), there.say(url, said)]);
    expect(statuses).toEqual([200, 200, 200]);
    await expect.poll(() => there.shown(chat).length, WAIT).toBe(1);
    expect(await there.say(url, said)).toBe(200);
    expect(await there.say(url, { ...said, text: "How are you?", nth: 2 })).toBe(200);
    await expect.poll(() => there.shown(chat).length, WAIT).toBe(2);
    expect(there.shown(chat).map(({ text }) => text.replaceAll(/[*_]/g, ""))).toEqual([
      "Reply 0!",
      "Reply 1!",
    ]);
    expect(server.requests).toHaveLength(2);
    expect(there.faults).toEqual([]);
  });

  it("is refused without its signature, and nobody is answered", async () => {
    const { there, url, server } = await start(["Never"]);
    const { headers, body } = there.request({ chat: platform.direct("77"), user: "77", text: "Hi", nth: 1 });
    expect(await postTo(url, { headers: platform.unsigned(headers), body })).toBe(401);
    expect(server.requests).toEqual([]);
    expect(there.shown(platform.direct("77"))).toEqual([]);
  });

  it("shows a reply as it is written where it can, and says that the bot types", async () => {
    const { there, url, server } = await start([[say("First words"), hold(), say(" and the last.")]]);
    const chat = platform.direct("77");
    // WhatsApp shows it beside a message that came before.
    await there.say(url, { chat, user: "77", text: "Hello", nth: 1 });
    if (platform.edits) {
      await expect.poll(() => there.shown(chat).map(({ text }) => text), WAIT).toEqual(["First words"]);
    } else await expect.poll(() => server.requests.length, WAIT).toBe(1);
    server.release();
    await expect
      .poll(() => there.shown(chat).map(({ text }) => text), WAIT)
      .toEqual(["First words and the last."]);
    expect(there.shown(chat)[0]?.edits).toBe(platform.edits ? 1 : 0);
    if (platform.name !== "whatsapp" && platform.name !== "slack") expect(there.typed()).toBeGreaterThan(0);
  });

  it("tells a long reply in parts, in order, with nothing left out", async () => {
    const words = Array.from({ length: 4_000 }, (_, nth) => `word${nth}`);
    const { there, url } = await start([words.join(" ")]);
    const chat = platform.direct("77");
    await there.say(url, { chat, user: "77", text: "Tell me all", nth: 1 });
    const told = () =>
      there
        .shown(chat)
        .map(({ text }) => text)
        .join(" ");
    await expect.poll(told, WAIT).toBe(words.join(" "));
    expect(there.shown(chat).length).toBeGreaterThan(1);
  });

  it("waits as long as it is told to, and then goes on", async () => {
    const { there, url } = await start(["One", "Two"]);
    const chat = platform.direct("77");
    there.trouble({ type: "slow-down", seconds: 1 }, { type: "status", status: 500 });
    await there.say(url, { chat, user: "77", text: "Hello", nth: 1 });
    await there.say(url, { chat, user: "77", text: "Again", nth: 2 });
    await expect.poll(() => there.shown(chat).map(({ text }) => text), WAIT).toEqual(["One", "Two"]);
  });

  it(`has a post whose answer was lost ${platform.readsBack ? "once" : "twice, at most"}`, async () => {
    const { there, url } = await start(["One", "Two"]);
    const chat = platform.direct("77");
    there.trouble({ type: "lost-answer" });
    await there.say(url, { chat, user: "77", text: "Hello", nth: 1 });
    await there.say(url, { chat, user: "77", text: "Again", nth: 2 });
    const expected = platform.readsBack ? ["One", "Two"] : ["One", "One", "Two"];
    await expect.poll(() => there.shown(chat).map(({ text }) => text), WAIT).toEqual(expected);
  });

  it("gets a person's answer, and messages to a person are not answered by the model", async () => {
    const { there, url, service, server, uidOf } = await start(["Hello"], { handoff: { enabled: true } });
    const chat = platform.direct("77");
    await there.say(url, { chat, user: "77", text: "Hello", nth: 1 });
    await expect.poll(() => there.shown(chat).length, WAIT).toBe(1);
    const { people } = service.threads;
    const thread = { slug: SLUG, uid: await uidOf() };
    const epoch = await people.take({ ...thread, name: "ann", epoch: 0 });
    await there.say(url, { chat, user: "77", text: "Is that you?", nth: 2 });
    for (const text of ["It is me.", "How can I help?"])
      await people.say({ ...thread, name: "ann", epoch, text, clientMessageId: null });
    await expect
      .poll(() => there.shown(chat).map(({ text }) => text), WAIT)
      .toEqual(["Hello", "It is me.", "How can I help?"]);
    expect(server.requests).toHaveLength(1);
  });

  it("gets its answer as a new message where the one that grew was removed", async () => {
    if (!platform.edits) return;
    const { there, url, server } = await start([[say("First words"), hold(), say(" and the last.")]]);
    const chat = platform.direct("77");
    await there.say(url, { chat, user: "77", text: "Hello", nth: 1 });
    await expect.poll(() => there.shown(chat).length, WAIT).toBe(1);
    there.remove(chat, there.shown(chat)[0]?.id ?? "");
    server.release();
    await expect
      .poll(() => there.shown(chat).map(({ text }) => text), WAIT)
      .toEqual(["First words and the last."]);
  });

  it("keeps its images for the model, and names what it does not get", async () => {
    const { there, url, server } = await start(["Nice", "Nice"], { agent: { images: true } });
    const image = Buffer.from(TINY_PNG.split(",")[1] ?? "", "base64");
    const chat = platform.direct("77");
    await there.say(url, { chat, user: "77", text: "Look", nth: 1, image });
    await expect.poll(() => there.shown(chat).length, WAIT).toBe(1);
    const asked = JSON.stringify(server.requests[0]?.body.messages);
    // The adapters of the others take files from public addresses alone, and this machine has none.
    if (platform.name === "telegram" || platform.name === "teams") expect(asked).toContain(TINY_PNG);
    else expect(asked).toContain("[image");
    expect(asked).toContain("Look");
  });

  it("keeps its documents as files, once, tells the model what they say, and names what is none", async () => {
    if (platform.name !== "telegram") return;
    const { there, url, server, service, uidOf } = await start(["Nice", "Odd"]);
    const chat = platform.direct("77");
    const bill = { name: "bill.csv", bytes: Buffer.from("mug,18") };
    const said = { chat, user: "77", text: "", nth: 1, document: bill };
    await there.say(url, said);
    await there.say(url, said);
    await expect.poll(() => there.shown(chat).length, WAIT).toBe(1);
    expect(JSON.stringify(server.requests[0]?.body.messages)).toContain("mug,18");
    const odd = { name: "odd.bin", bytes: Buffer.from([0, 1, 2]) };
    await there.say(url, { chat, user: "77", text: "And this?", nth: 2, document: odd });
    await expect.poll(() => there.shown(chat).length, WAIT).toBe(2);
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain("And this?\\n[file: odd.bin]");
    const items = await service.threads.history(await uidOf(), { limit: 9, before: null });
    expect(items.flatMap(({ files = [] }) => files)).toMatchObject([{ name: "bill.csv", type: "text/csv" }]);
  });

  it("is not answered where the user is blocked, and again when not", async () => {
    const { there, url, server, userId } = await start(["One", "Two"]);
    const chat = platform.direct("77");
    await there.say(url, { chat, user: "77", text: "Hello", nth: 1 });
    await expect.poll(() => there.shown(chat).length, WAIT).toBe(1);
    await store.flagUser(SLUG, await userId(), { blocked: true });
    expect(await there.say(url, { chat, user: "77", text: "Hello?", nth: 2 })).toBe(200);
    await store.flagUser(SLUG, await userId(), { blocked: false });
    expect(await there.say(url, { chat, user: "77", text: "Hello!", nth: 3 })).toBe(200);
    await expect.poll(() => there.shown(chat).map(({ text }) => text), WAIT).toEqual(["One", "Two"]);
    expect(server.requests).toHaveLength(2);
  });

  it("answers in a group who mentions it, and then who it talks with", async () => {
    const { group } = platform;
    if (group === null) return;
    const { there, url, server } = await start(["One", "Two"]);
    expect(await there.say(url, { chat: group, user: "77", text: "Hi all", nth: 1, group: true })).toBe(200);
    await there.say(url, { chat: group, user: "77", text: "and you", nth: 2, group: true, mention: true });
    await expect.poll(() => there.shown(group).map(({ text }) => text), WAIT).toEqual(["One"]);
    expect(server.requests).toHaveLength(1);
  });
});

async function startAt(
  platform: Pick<PlatformCase, "start">,
  store: Store,
  script: Script,
  more: Partial<Channel>,
) {
  const there = await platform.start();
  const { model, server } = await openScriptedModel(script);
  const channel = transportChannel(SLUG, there.messenger, more);
  const service = await startTestService({ store, model, channels: [channel] });
  const userId = async () => (await store.users(SLUG))[0]?.userId ?? "";
  return {
    there,
    server,
    service,
    url: `${service.url}/v1/messengers/${SLUG}`,
    userId,
    uidOf: async () => (await store.threads(SLUG, await userId()))[0]?.uid ?? "",
  };
}
