// For src/threads/recover/recovery.ts
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLostThreads } from "../../../src/threads/recover/lost-threads.ts";
import { createRecovery } from "../../../src/threads/recover/recovery.ts";
import type { Recovery } from "../../../src/threads/recover/recovery.ts";
import { createSilence } from "../../../src/threads/recover/silence.ts";
import { redisEngine } from "../../../src/stores/engines/redis/engine.ts";
import type { RedisLink } from "../../../src/stores/engines/redis/link.ts";
import { linkToServer } from "../../../src/stores/engines/redis/single.ts";
import { codecOn } from "../../../src/stores/steps/codec.ts";
import { instanceSteps } from "../../../src/stores/steps/instances.ts";
import { redisClient } from "../../support/stores/redis-client.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import type { RedisServer } from "../../support/stores/redis-server.ts";
import { setTime } from "../set-time.ts";
import type { SetTime } from "../set-time.ts";

/** What instances at rest ask of Redis, counted by Redis, over seconds that are set. */
let redis: RedisServer;
let link: RedisLink;
let client: Awaited<ReturnType<typeof connect>>;

function connect({ url }: RedisServer) {
  return redisClient(url).connect();
}

beforeAll(async () => {
  redis = await startRedis();
  link = await linkToServer(redis.url, { log: { warn() {} }, deadlineMs: 60_000 });
  client = await connect(redis);
});
afterAll(async () => {
  client.destroy();
  link.close();
  await redis.stop();
});

/** Commands that the functions give by themselves, and what others ask: the pings of connections, and this test. */
const NOT_ASKED = ["zrange", "hmget", "zadd", "ping", "info", "config|resetstat", "hello", "client|setinfo"];

async function askedSoFar(): Promise<Map<string, number>> {
  const lines = (await client.info("commandstats")).matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm);
  return new Map([...lines].map(([, name = "", calls = "0"]) => [name, Number(calls)]));
}

/** So many instances at rest on one time, and how to let it pass until all that they asked was answered. */
async function atRest(
  count: number,
): Promise<{ pass: (seconds: number) => Promise<void>; stop: () => void }> {
  const time = setTime();
  let open = 0;
  const counting: RedisLink = {
    ...link,
    async send(...sent) {
      open++;
      try {
        return await link.send(...sent);
      } finally {
        open--;
      }
    },
  };
  const recoveries: Recovery[] = [];
  for (let nth = 0; nth < count; nth++) {
    const recovery = instanceAt(time, counting, `process-${String(nth).padStart(3, "0")}`, nth / count);
    recoveries.push(recovery);
    await recovery.start();
  }
  return {
    async pass(seconds) {
      for (let ms = 0; ms < seconds * 1_000; ms += 50) {
        time.pass(50);
        // What follows from an answer is asked in the same turn of the loop.
        do await new Promise((resolve) => setImmediate(resolve));
        while (open > 0);
      }
    },
    stop: () => recoveries.forEach((recovery) => recovery.stop()),
  };
}

function instanceAt(
  { clock, timers }: SetTime,
  over: RedisLink,
  processId: string,
  jitter: number,
): Recovery {
  const engine = redisEngine(over, { durability: "local", deadlineMs: 60_000, reconnected: new Set() });
  const context = { engine, processId, clock, codec: codecOn(engine, clock, {}) };
  const liveness = instanceSteps(context, { changeCount() {}, forgotten() {} });
  const store = {
    ...liveness,
    processId,
    load: () => Promise.resolve(null),
    onReconnect: () => () => {},
  };
  return createRecovery({
    store,
    clock,
    timers,
    log: { info() {}, warn: (fields) => expect(fields).toBeUndefined(), error() {} },
    random: () => jitter,
    silence: createSilence(clock),
    lost: createLostThreads({ store, clock, isOurs: () => true }),
    takeUp: { take: () => Promise.resolve(), expire: () => Promise.resolve(), leftAlone: () => new Set() },
  });
}

const SECONDS = 20;

/** Of each instance, besides: a PING on each of its two connections every two seconds, a look for changes every five. */
const BESIDES = 100 * (2 / 2 + 1 / 5);

test("a hundred instances at rest ask Redis together for fewer than 500 commands a second", async () => {
  const { pass, stop } = await atRest(100);
  await pass(5);
  const before = await askedSoFar();
  await pass(SECONDS);
  const after = await askedSoFar();
  stop();
  const asked = [...after]
    .filter(([name]) => !NOT_ASKED.includes(name))
    .map(([name, calls]) => [name, (calls - (before.get(name) ?? 0)) / SECONDS] as const);
  const perSecond = Object.fromEntries(asked.filter(([, calls]) => calls > 0));
  // Each of the looks takes place.
  expect(Object.keys(perSecond).toSorted()).toEqual(["fcall", "fcall_ro", "hgetall", "time"]);
  const total = Object.values(perSecond).reduce((sum, calls) => sum + calls, 0);
  expect(total + BESIDES).toBeLessThan(500);
});
