// For src/stores/steps/
import { afterAll, beforeAll, describe } from "vitest";
import { startRedis } from "../../support/stores/redis-server.ts";
import type { RedisServer } from "../../support/stores/redis-server.ts";
import { stoppableRedis } from "./stoppable-redis.ts";
import { itCompletesStoppedCalls } from "./stopped-calls.ts";

let redis: RedisServer;
let stoppable: Awaited<ReturnType<typeof stoppableRedis>>;
beforeAll(async () => {
  redis = await startRedis({ args: ["--appendonly", "no"] });
  stoppable = await stoppableRedis(redis.url);
});
afterAll(async () => {
  await stoppable.close();
  await redis.stop();
});

describe("a call of the store that is stopped before any of its writes, and made again, on Redis", () => {
  itCompletesStoppedCalls(async () => {
    await stoppable.clear();
    return stoppable;
  });
});
