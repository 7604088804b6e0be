import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { openOrders } from "../support/redis-orders.ts";
import type { Orders } from "../support/redis-orders.ts";
import { startRedis } from "../support/redis-server.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { loadWatchedLibrary } from "../support/watched-library.ts";
import type { WatchedLibrary } from "../support/watched-library.ts";
import { run, someCommand } from "../stores/equivalence.ts";
import { sampleChannel, SLUG } from "../stores/samples.ts";
import { channelSteps, threadSteps } from "./steps.ts";

/*
 * Redis does a function whole or not at all, with one exception: a command that it refuses in the midst of one ends it
 * there, and what was done before stays done. The rules by which no function can be ended so:
 *
 * 1. It reads first, and writes then; whatever may be refused is refused before the first write.
 * 2. It writes only keys that were declared, which Redis looks for before the function begins, or that it has read.
 * 3. A key that it may have emptied is not touched again: what is empty does not exist, and so may be elsewhere.
 *
 * They are asked of every call that the store makes, whichever function it is and whatever it finds.
 */
let redis: RedisServer;
let orders: Orders;
let library: WatchedLibrary;
let store: Store;

beforeAll(async () => {
  redis = await startRedis({ args: ["--appendonly", "no"] });
  orders = openOrders(redis.url);
  library = await loadWatchedLibrary(orders);
  await library.watch();
  const log = { warn() {} };
  store = await openRedisStore({ urls: [redis.url], durability: "local", clock: systemClock, log });
});
afterAll(async () => {
  await store.close();
  orders.close();
  await redis.stop();
});

async function empty(): Promise<void> {
  await orders.send("FLUSHALL");
  await store.putChannel(sampleChannel());
  await library.told();
}

/** What random commands do not do. */
async function theRest(): Promise<void> {
  await store.blockIp("192.0.2.1");
  await store.unblockIp("192.0.2.1");
  await store.beat(60_000);
  await store.findUser(SLUG, "kim");
  await store.runs("t1", 3);
  // A process that beat once, and is found silent and forgotten.
  await orders.send("ZADD", "instances:{g}", "1", "gone");
  await store.beat(60_000);
  await store.forget("gone");
}

describe("no function can be ended in its midst", () => {
  it("P10: whatever is asked in whatever order, the rules hold", async () => {
    const commands = fc.array(someCommand, { minLength: 1, maxLength: 60, size: "max" });
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        await empty();
        for (const [number, command] of sequence.entries()) await run(store, command, number + 10);
        expect((await library.told()).faults).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it.each([...channelSteps, ...threadSteps].map((step) => [step.name, step] as const))(
    "P10: %s",
    async (_, step) => {
      await empty();
      const place = { slug: SLUG, uid: "t1" };
      await step.before(store, place);
      await library.told();
      await step.take(store, place);
      expect((await library.told()).faults).toEqual([]);
    },
  );

  it("P10: heartbeats, addresses, and one who is forgotten", async () => {
    await empty();
    await theRest();
    expect((await library.told()).faults).toEqual([]);
  });

  it("every function of the library is among them", async () => {
    for (const { before, take } of [...channelSteps, ...threadSteps]) {
      await empty();
      await before(store, { slug: SLUG, uid: "t1" });
      await take(store, { slug: SLUG, uid: "t1" });
    }
    await theRest();
    expect((await library.told()).missed).toEqual([]);
  });
});

/** Each breaks one of the rules, on a slot where nothing else is wrong. */
const CONTROLS = `#!lua name=controls
local VERSION = '1'
local function reads_late(keys) redis.call('SET', keys[1], 'x') return redis.call('GET', keys[1]) end
local function writes_unseen(keys) return redis.call('SET', 'made-up:{k}', 'x') end
local function touches_emptied(keys)
  redis.call('DEL', keys[1])
  return redis.call('SET', keys[1], 'x')
end
local function keeps_the_rules(keys)
  if redis.call('GET', keys[1]) then redis.call('SET', keys[1], 'x') end
  redis.call('DEL', keys[2])
end
redis.register_function({ function_name = 'reads_late', callback = reads_late })
redis.register_function({ function_name = 'writes_unseen', callback = writes_unseen })
redis.register_function({ function_name = 'touches_emptied', callback = touches_emptied })
redis.register_function({ function_name = 'keeps_the_rules', callback = keeps_the_rules })`;

describe("a control: functions that break a rule are found", () => {
  it.each([
    ["reads_late", ["reads_late: reads after it wrote: GET a:{k}"]],
    ["writes_unseen", ["writes_unseen: writes what it neither declared nor read: SET made-up:{k}"]],
    [
      "touches_emptied",
      [
        "touches_emptied: touches what it may have emptied: SET a:{k}",
        "touches_emptied: is refused half way, and leaves a:{k} changed",
        "touches_emptied: is refused half way, and leaves a:{k} changed (without b:{k})",
      ],
    ],
    ["keeps_the_rules", []],
  ])("%s", async (name, faults) => {
    const server = await startRedis({ args: ["--appendonly", "no"] });
    const own = openOrders(server.url);
    onTestFinished(async () => {
      own.close();
      await server.stop();
    });
    const controls = await loadWatchedLibrary(own, CONTROLS);
    await controls.watch();
    const keys = name === "touches_emptied" ? ["a:{k}"] : ["a:{k}", "b:{k}"];
    await own.send("MSET", "a:{k}", "1", "b:{k}", "2");
    await own.send("FCALL", name, String(keys.length), ...keys);
    expect((await controls.told()).faults.toSorted()).toEqual(faults.toSorted());
  });
});
