import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/data-dir.ts";
import { call, say, startModelServer } from "../support/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../support/model-server.ts";
import { startRedis } from "../support/redis-server.ts";
import { startServiceProcess, TEST_KEY } from "../support/service.ts";
import { embedded, openHouse, ORIGIN, redisCluster, webChannel } from "./houses.ts";
import type { Site } from "./houses.ts";
import { PAGE_TOOLS, playWidget } from "./widget-scenario.ts";

/** One page tool in each turn, with a word before it, and an answer when all have been used. */
function shopper({ body }: ModelServerRequest): ScriptedTurn {
  const used = body.messages.filter(({ role }) => role === "tool").length;
  const tool = PAGE_TOOLS[used];
  return tool === undefined
    ? "The red mug is on its way."
    : [say("One moment. "), call(tool, { what: "red mug" })];
}

/** Each tool's turn and the last: no result, repeated or stale, makes the model think again. */
const MODEL_CALLS = PAGE_TOOLS.length + 1;

test.each<Site>([embedded, redisCluster])(
  "P7, P8: a page's whole conversation, on $name, over every instance",
  async (site) => {
    const house = await openHouse(site, shopper);
    onTestFinished(() => house.close());
    await house.putChannel(webChannel("shop"));
    await playWidget({ urls: house.urls, origin: ORIGIN, publishableKey: "pk_shop" });
    expect(house.model.requests).toHaveLength(MODEL_CALLS);
    expect(await house.faults()).toEqual([]);
  },
);

test("P7, P8: a page's whole conversation over two processes on one Redis", async () => {
  const [redis, model] = await Promise.all([startRedis(), startModelServer(shopper)]);
  onTestFinished(async () => {
    await Promise.all([redis.stop(), model.close()]);
  });
  const CHANNELS_FILE = join(temporaryFolder(), "channels.json");
  const shop = { slug: "shop", kind: "web", publishableKey: "pk_shop", secretKey: "sk_shop_secret" };
  writeFileSync(CHANNELS_FILE, JSON.stringify({ channels: [{ ...shop, allowedOrigins: [ORIGIN] }] }));
  const env = {
    CHANNELS_FILE,
    HARNESS_API_KEY: TEST_KEY,
    REDIS_URL: redis.url,
    OPENAI_BASE_URL: model.baseUrl,
  };
  const start = () => startServiceProcess({ ...env, DATA_DIR: temporaryFolder() });
  const processes = await Promise.all([start(), start()]);
  const urls = processes.map(({ url }) => url);
  await playWidget({ urls, origin: ORIGIN, publishableKey: "pk_shop" });
  expect(model.requests).toHaveLength(MODEL_CALLS);
});

test("the same conversation with what `npm start` brings: the demo channel and the demo model", async () => {
  const DATA_DIR = temporaryFolder();
  const { url, output } = await startServiceProcess({ DATA_DIR });
  const origin = /"demoUrl":"([^"]+)"/.exec(output.stdout.join("\n"))?.[1] ?? "";
  const keys = JSON.parse(readFileSync(join(DATA_DIR, "keys.json"), "utf8")) as {
    demo: { publishableKey: string };
  };
  const { publishableKey } = keys.demo;
  const told: string[] = [];
  await playWidget({ urls: [url], origin: new URL(origin).origin, publishableKey }, (sentence) =>
    told.push(sentence),
  );
  expect(told.at(-1)).toBe("the history holds the message, the reply and its steps");
});
