// For src/http/widget-api/, src/threads/
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { startModelServer } from "../support/servers/model-server.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { ORIGIN } from "./houses.ts";
import { MODEL_CALLS, shopper } from "./shopper.ts";
import { playWidget } from "./widget-scenario.ts";

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
