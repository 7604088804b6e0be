// For src/threads/recover/
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { holderOf } from "../../src/domain/threads/fence.ts";
import { newId } from "../../src/domain/ids.ts";
import { threadUid } from "../../src/domain/threads/thread-uid.ts";
import { slotOf } from "../../src/stores/engine.ts";
import type { Engine } from "../../src/stores/engine.ts";
import { openRedisEngine } from "../../src/stores/engines/redis/open.ts";
import { codecOn } from "../../src/stores/steps/codec.ts";
import { instanceSteps } from "../../src/stores/steps/instances.ts";
import { threadSteps } from "../../src/stores/steps/threads.ts";
import { bucketOf, tables } from "../../src/stores/tables.ts";
import { redisClient } from "../support/stores/redis-client.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import type { RedisServer } from "../support/stores/redis-server.ts";
import { ask, transportHeaders } from "./history/client.ts";
import { replyTo } from "./victims/echo-model.ts";
import { inEveryOrder } from "./crash/every-order.ts";
import type { Actor, Gate } from "./crash/every-order.ts";
import { startFleet } from "./history/fleet.ts";
import { mustHave } from "./history/instances.ts";
import { claim, lookAround } from "./history/looks.ts";
import type { StoreOfProcess } from "./history/looks.ts";
import { killVictims } from "./victims/victims.ts";

/**
 * P9: a process that was taken for gone only slept. It wakes at any moment of its being taken up and forgotten, claims a
 * thread, and dies at any moment, mostly before it beats again: whatever it holds then is taken up all the same.
 */
let redis: RedisServer;
let engine: Engine;
let client: Awaited<ReturnType<typeof connect>>;

beforeAll(async () => {
  redis = await startRedis();
  const log = { warn() {} };
  ({ engine } = await openRedisEngine({ urls: [redis.url], durability: "local", log, deadlineMs: 20_000 }));
  client = await connect(redis);
});

afterAll(async () => {
  await killVictims();
  client.destroy();
  await engine.close();
  await redis.stop();
});

/** A client that is not the store's. */
function connect({ url }: RedisServer) {
  return redisClient(url).connect();
}

/** What the store on Redis has about who holds a thread; with a gate before each step that meets this thread. */
function openProcess(uid: string, gate: Gate | null): StoreOfProcess {
  const processId = newId();
  const its = gate ? gated(engine, uid, gate) : engine;
  const context = { engine: its, processId, clock: systemClock, codec: codecOn(its, systemClock, {}) };
  return {
    ...instanceSteps(context, { changeCount() {}, forgotten() {} }),
    ...threadSteps(context, () => []),
    processId,
  };
}

/** Steps in other buckets change nothing here, and pass. */
function gated(straight: Engine, uid: string, gate: Gate): Engine {
  const met = [slotOf(tables.instances.key), `t:${bucketOf(uid)}`];
  const turn = async (slot: string) => {
    if (met.includes(slot)) await gate.pass();
  };
  return {
    ...straight,
    read: (reads, how) => turn(slotOf(reads[0]?.key ?? "")).then(() => straight.read(reads, how)),
    apply: (step, how) => turn(step.slot).then(() => straight.apply(step, how)),
  };
}

interface Weakness {
  /** The look forgets whoever is silent, whatever it holds. */
  forgetsAtOnce?: boolean;
  /** Nobody looks for holders without a heartbeat. */
  looksForNoHolders?: boolean;
}

function weakened(
  store: StoreOfProcess,
  gate: Gate,
  { forgetsAtOnce, looksForNoHolders }: Weakness,
): StoreOfProcess {
  const strong = { ...store };
  if (looksForNoHolders) strong.holders = () => Promise.resolve([]);
  if (forgetsAtOnce) {
    strong.forget = async (gone) => {
      await gate.pass();
      await client.zRem(tables.instances.key, gone.processId);
    };
  }
  return strong;
}

/**
 * Plays every order of what a sleeper does when it wakes and of another's look; answers the orders after which nobody
 * takes up what it held.
 */
async function heldForGood(weakness: Weakness = {}): Promise<string[]> {
  const orders: string[] = [];
  const open: Gate = { pass: () => Promise.resolve() };
  await inEveryOrder(async () => {
    const uid = newId();
    await client.del(tables.instances.key);
    let turn = open;
    const sleeper = openProcess(uid, { pass: () => turn.pass() });
    await sleeper.beat();
    const seen = await openProcess(uid, null).beat();

    const wake: Actor = {
      mayDie: true,
      async act(gate) {
        turn = gate;
        await claim(sleeper, { uid, rev: 0, readOp: null, takesFrom: null });
        await sleeper.beat();
      },
    };
    const look: Actor = {
      act(gate) {
        // The holders of its share are a matter of the looks that follow.
        const looker = weakened(openProcess(uid, gate), gate, { ...weakness, looksForNoHolders: true });
        return lookAround(looker, seen);
      },
    };
    return {
      actors: [wake, look],
      async judge(order) {
        const heir = weakened(openProcess(uid, null), open, weakness);
        for (let looks = 0; looks < 2; looks++) await lookAround(heir);
        const fence = (await heir.load(uid, 1))?.fence;
        if (fence && holderOf(fence) === sleeper.processId) orders.push(order);
      },
    };
  });
  return orders;
}

describe("a process that wakes while it is taken up and forgotten", () => {
  test("leaves nothing held, in every order", async () => {
    expect(await heldForGood()).toEqual([]);
  });

  test("leaves nothing held though it is forgotten at once: an unknown holder is a dead one", async () => {
    expect(await heldForGood({ forgetsAtOnce: true })).toEqual([]);
  });

  test("a control: forgotten at once and looked for by nobody, it leaves a thread held for good", async () => {
    expect(await heldForGood({ forgetsAtOnce: true, looksForNoHolders: true })).not.toEqual([]);
  });

  test("leaves nothing held when it was stopped with SIGSTOP, and dies before it beats", async () => {
    const fleet = await startFleet();
    const client = await connect(fleet.redis);
    await mustHave(fleet.victims[0]).kill9();
    // The second change of a message is the claim.
    await fleet.restart(0, { weakness: "beats-once", crash: { at: 2, mode: "after" } });
    const sleeper = mustHave(fleet.victims[0]);
    sleeper.pause();
    while ((await client.zCard(tables.instances.key)) > 1) await pause(20);
    client.destroy();
    sleeper.resume();
    const said = { threadId: "t1", userId: "u1", text: "hello" };
    await ask(sleeper.url, "/v1/messages", { headers: transportHeaders, body: said });
    expect(await sleeper.exit).toBeNull();
    expect(sleeper.reachedCrash).toBe(true);
    const uid = threadUid("cli", said.userId, said.threadId);
    await fleet.settled([uid]);
    const history = await fleet.store.history(uid, { limit: 10, before: null });
    expect(history.map(({ content }) => content)).toEqual([said.text, replyTo(said.text)]);
    await fleet.close();
  });
});
