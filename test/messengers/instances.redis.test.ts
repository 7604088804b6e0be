// For src/messengers/, src/webhooks/lane.ts
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { hold, say } from "../support/servers/model-server.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { startTestService } from "../support/servers/service.ts";
import { prepareRedis } from "../support/stores/store-kinds.ts";
import type { TestDatabase } from "../support/stores/store-kinds.ts";
import { PLATFORMS } from "./each-platform.ts";
import { transportChannel } from "./transport-channel.ts";

const WAIT = { timeout: 30_000, interval: 20 };
const SLUG = "bot";

describe.each(PLATFORMS)("$name on two instances", (platform) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await prepareRedis();
  });
  beforeEach(() => database.clear());
  afterAll(() => database.remove());

  async function started() {
    const there = await platform.start();
    const { model, server } = await openScriptedModel((_, nth) =>
      nth === 0 ? [say("First words"), hold(), say(" and the last.")] : `Reply ${nth}`,
    );
    const channels = [transportChannel(SLUG, there.messenger)];
    const one = async () => {
      const store = await database.open();
      onTestFinished(() => store.close());
      return startTestService({ store, model, channels });
    };
    const [a, b] = [await one(), await one()];
    const urls = [a, b].map(({ url }) => `${url}/v1/messengers/${SLUG}`);
    return { there, server, a, b, urls };
  }

  it("has what either of them is sent said once, and answered in order", async () => {
    const { there, server, urls } = await started();
    const chat = platform.direct("77");
    const [a = "", b = ""] = urls;
    const said = { chat, user: "77", text: "Hello", nth: 1 };
    const statuses = await Promise.all([a, b, a, b].map((url) => there.say(url, said)));
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect(await there.say(b, { ...said, text: "Again", nth: 2 })).toBe(200);
    if (platform.edits) await expect.poll(() => there.shown(chat).length, WAIT).toBe(1);
    server.release();
    await expect
      .poll(() => there.shown(chat).map(({ text }) => text), WAIT)
      .toEqual(["First words and the last.", "Reply 1"]);
    expect(server.requests).toHaveLength(2);
  });

  it("goes on with the reply that one of them began to show, where it stops", async () => {
    if (!platform.edits) return;
    const { there, server, a, b, urls } = await started();
    const chat = platform.direct("77");
    const [first = "", second = ""] = urls;
    await there.say(first, { chat, user: "77", text: "Hello", nth: 1 });
    await expect.poll(() => there.shown(chat).map(({ text }) => text), WAIT).toEqual(["First words"]);
    const [post] = there.shown(chat);
    await a.stop(0);
    // The run begins anew on the other one: its model is the second request.
    await expect.poll(() => server.requests.length, WAIT).toBeGreaterThan(1);
    await expect.poll(() => there.shown(chat).map(({ text }) => text), WAIT).toEqual(["Reply 1"]);
    expect(there.shown(chat)[0]?.id).toBe(post?.id);
    await there.say(second, { chat, user: "77", text: "Still there?", nth: 2 });
    await expect.poll(() => there.shown(chat).map(({ text }) => text), WAIT).toEqual(["Reply 1", "Reply 2"]);
    void b;
  });
});
