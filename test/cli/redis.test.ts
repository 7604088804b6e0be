// For src/cli/store/, src/cli/command/
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { redisClient } from "../support/stores/redis-client.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import type { RedisServer } from "../support/stores/redis-server.ts";
import { runCommand } from "../support/terminal.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

test("with REDIS_URL the command line works on that store", async () => {
  const env = { REDIS_URL: redis.url, DATA_DIR: temporaryFolder() };
  expect(await runCommand(env, ["channels", "create", "bot", "--kind", "transport"])).toMatchObject({
    code: 0,
  });
  const listed = await runCommand(env, ["channels", "list", "--json"]);
  expect(JSON.parse(listed.out)).toMatchObject([{ slug: "bot", enabled: true }]);
  expect(listed.err).toBe("");
});

test("a store whose format is from the future exits 1 with one line", async () => {
  const later = await startRedis();
  const client = await redisClient(later.url).connect();
  await client.set("format:{g}", "999");
  client.destroy();
  const env = { REDIS_URL: later.url, DATA_DIR: temporaryFolder() };
  const { code, out, err } = await runCommand(env, ["channels", "list"]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(/^Cannot open the store on Redis: its format is 999, .+\n$/);
  await later.stop();
});

test("P15: a Redis that cannot be reached exits 1 with one line, and without its password", async () => {
  const env = { REDIS_URL: "redis://:canary@127.0.0.1:1", DATA_DIR: temporaryFolder() };
  const { code, out, err } = await runCommand(env, ["channels", "list"]);
  expect(code).toBe(1);
  expect(out).toBe("");
  expect(err).toMatch(/^Cannot .+\n$/m);
  expect(err).not.toContain("canary");
});
