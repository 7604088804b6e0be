// For src/start/keep-channels.ts, src/start/channels.ts
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { STORE_FORMAT } from "../../src/stores/format.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { redisClient } from "../support/stores/redis-client.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";

async function say(url: string, channel: string): Promise<number> {
  const answer = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ threadId: "t", userId: "ada", text: "Hello", channel }),
  });
  await answer.text();
  return answer.status;
}

async function startEmptied(env: NodeJS.ProcessEnv = {}) {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const settings = { REDIS_URL: redis.url, HARNESS_API_KEY: TEST_KEY, DEMO: "off", ...env };
  const services = await Promise.all(
    [0, 1].map(() => startServiceProcess({ ...settings, DATA_DIR: emptyFolder() })),
  );
  return { redis, urls: services.map(({ url }) => url) };
}

test("P24: a Redis that comes back empty has its channels, functions and format again", async () => {
  const { redis, urls } = await startEmptied();
  for (const url of urls) expect(await say(url, "cli")).toBe(200);

  await redis.kill9();
  rmSync(join(redis.dir, "appendonlydir"), { recursive: true });
  await redis.restart();
  for (const url of urls) await expect.poll(() => say(url, "cli"), { timeout: 60_000 }).toBe(200);

  const client = redisClient(redis.url);
  await client.connect();
  onTestFinished(() => client.destroy());
  await expect.poll(() => client.get("format:{g}")).toBe(String(STORE_FORMAT));
});

test("P24: a Redis that is emptied while it runs has the channels of CHANNELS_FILE again", async () => {
  const file = join(emptyFolder(), "channels.json");
  const channels = ["bot", "other"].map((slug) => ({ slug, kind: "transport" }));
  writeFileSync(file, JSON.stringify({ channels }));
  const { redis, urls } = await startEmptied({ CHANNELS_FILE: file });

  const client = redisClient(redis.url);
  await client.connect();
  onTestFinished(() => client.destroy());
  await client.sendCommand(["FLUSHALL"]);
  for (const url of urls)
    for (const { slug } of channels) await expect.poll(() => say(url, slug), { timeout: 60_000 }).toBe(200);
});
