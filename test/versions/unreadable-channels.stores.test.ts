// For src/store/unreadable.ts, src/admission/unreadable-channels.ts, src/stores/read-channels.ts
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { upsertChannels } from "../../src/installation/channels-file.ts";
import { createCliChannel } from "../../src/installation/default-channels.ts";
import { NewerRecord } from "../../src/store.ts";
import type { Store } from "../../src/store.ts";
import { cli, ORIGIN, other, SECRET_KEY, shop } from "../http/service.ts";
import { sampleChannel } from "../stores/samples.ts";
import { hold, say, startModelServer } from "../support/servers/model-server.ts";
import { openTestService, ROOMY_LIMITS, TEST_KEY } from "../support/servers/service.ts";
import type { TestService } from "../support/servers/service.ts";
import { identify, mintVisitor, openPage, sendMessage } from "./fleet/api.ts";
import { plantableStores } from "./plant.ts";
import type { PlantableStore } from "./plant.ts";

const DAMAGED = { what: "damaged", text: JSON.stringify({ ...shop, kind: "market" }) };
const GARBAGE = { what: "no JSON at all", text: '{"slug":"sh' };
const NEWER = { what: "of a newer version", text: JSON.stringify({ ...shop, v: 99 }) };

const hello = { channel: "cli", userId: "ann", threadId: "t1", text: "Hello" };

describe.each(plantableStores)("a channel that cannot be read, on $name", ({ prepare }) => {
  let place: PlantableStore;
  let store: Store;
  let service: TestService;

  beforeEach(async () => {
    place = await prepare();
    await start();
    for (const channel of [shop, other, cli]) await store.putChannel(channel);
    await service.directory.renew();
  });
  afterEach(async () => {
    await stop();
    await place.remove();
  });

  async function start(env: Record<string, string> = {}): Promise<void> {
    store = await place.open();
    service = await openTestService({ store, channels: [], env: { ...ROOMY_LIMITS, ...env } });
  }
  async function stop(): Promise<void> {
    await service.close();
    await store.close();
  }
  async function restartWith(slug: string, text: string): Promise<void> {
    await stop();
    await place.plant({ part: "channel", slug, text });
    await start();
  }

  const backend = () => ({ url: service.url, transportKey: TEST_KEY });
  const page = (token: string, origin = ORIGIN) => openPage(service.url, { origin, token });
  const mint = (origin = ORIGIN, key = "pk_shop") => mintVisitor(service.url, origin, key);
  const complaints = () =>
    service.logged.filter((line) => line.includes('"slug":"shop"') && /channel/.test(line));

  test.each([DAMAGED, NEWER])("$what: its requests get 503, all others are served", async ({ text }) => {
    const token = await mint();
    const threadId = await page(token).openThread();
    await restartWith("shop", text);

    expect((await sendMessage(backend(), hello)).status).toBe(200);
    expect(
      await page(await mint("https://other.example", "pk_other"), "https://other.example").openThread(),
    ).not.toBe("");
    await expect(mint()).rejects.toThrow("answered 503");
    await expect(page(token).openThread()).rejects.toThrow("answered 503");
    expect((await page(token).history(threadId)).status).toBe(503);
    expect((await page(token).say({ threadId, text: "Hello" })).status).toBe(503);
    const asked = { slug: "shop", secretKey: SECRET_KEY, visitorToken: token, externalUserId: "kim" };
    const identified = await identify(service.url, asked);
    expect([identified.status, identified.headers.get("retry-after")]).toEqual([503, "1"]);
    await service.directory.renew();
    expect(complaints()).toHaveLength(1);

    await store.putChannel(shop);
    await service.directory.renew();
    expect((await page(token).say({ threadId, text: "Hello" })).status).toBe(200);
    expect((await identify(service.url, asked)).status).toBe(200);
  });

  test("no JSON at all: its backend gets 503, and its pages 403, since nothing tells of their origin", async () => {
    const token = await mint();
    await restartWith("shop", GARBAGE.text);
    expect((await sendMessage(backend(), hello)).status).toBe(200);
    await expect(page(token).openThread()).rejects.toThrow("answered 403");
    expect(
      (
        await identify(service.url, {
          slug: "shop",
          secretKey: SECRET_KEY,
          visitorToken: token,
          externalUserId: "kim",
        })
      ).status,
    ).toBe(503);
  });

  test.each([DAMAGED, GARBAGE, NEWER])("$what, a transport's: its messages get 503", async ({ text }) => {
    expect((await sendMessage(backend(), hello)).status).toBe(200);
    const planted =
      text === GARBAGE.text ? text : JSON.stringify({ ...(JSON.parse(text) as object), slug: "cli" });
    await restartWith("cli", planted);
    expect((await sendMessage(backend(), hello)).status).toBe(503);
  });

  test.each([DAMAGED, NEWER])(
    "$what: a run of it is left alone, and not answered without its instructions",
    async ({ text }) => {
      const model = await startModelServer([[say("I "), hold()]]);
      await stop();
      await start({ OPENAI_BASE_URL: model.baseUrl });
      await store.putChannel(sampleChannel({ ...cli, slug: "bot" }));
      await service.directory.renew();
      const stream = await sendMessage(backend(), { ...hello, channel: "bot" });
      await stream.until((lines) => lines.length > 0);
      await stop();
      await place.plant({
        part: "channel",
        slug: "bot",
        text: JSON.stringify({ ...(JSON.parse(text) as object), slug: "bot" }),
      });
      await start({ OPENAI_BASE_URL: model.baseUrl });
      await expect.poll(() => service.logged.join("")).toContain("left a thread alone");
      expect(model.requests).toHaveLength(1);
      await model.close();
    },
  );

  test("CHANNELS_FILE and the default channels write a damaged one anew, and leave a newer one", async () => {
    await stop();
    await place.plant({ part: "channel", slug: "shop", text: DAMAGED.text });
    await place.plant({ part: "channel", slug: "cli", text: GARBAGE.text });
    await place.plant({ part: "channel", slug: "other", text: JSON.stringify({ ...other, v: 99 }) });
    await start();
    const fields = { kind: "web" as const, allowedOrigins: ["https://new.example"] };
    await upsertChannels(store, [
      { slug: "shop", publishableKey: "pk_shop", ...fields },
      { slug: "other", publishableKey: "pk_other", ...fields },
    ]);
    await createCliChannel(store);
    expect(await store.channel("shop")).toMatchObject(fields);
    expect(await store.channel("cli")).toMatchObject({ kind: "transport", enabled: true });
    await expect(store.channel("other")).rejects.toThrow(NewerRecord);
    await expect(store.channels()).rejects.toThrow(NewerRecord);
    const unreadable: string[] = [];
    const readable = await store.channels(({ slug }) => void unreadable.push(slug));
    expect([readable.map(({ slug }) => slug), unreadable]).toEqual([["cli", "shop"], ["other"]]);
  });
});
