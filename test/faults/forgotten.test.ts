import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRecovery } from "../../src/actors/recovery.ts";
import { systemClock, systemTimers } from "../../src/clock.ts";
import { holderOf, newFence } from "../../src/domain/fence.ts";
import { newId } from "../../src/domain/ids.ts";
import { threadUid } from "../../src/domain/thread-uid.ts";
import { bucketOf } from "../../src/stores/buckets.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { createCommands } from "../../src/stores/redis/commands.ts";
import type { RedisCommands } from "../../src/stores/redis/commands.ts";
import { globalKeys } from "../../src/stores/redis/keys.ts";
import { redisLiveness } from "../../src/stores/redis/liveness.ts";
import type { RedisLink } from "../../src/stores/redis/link.ts";
import { linkToServer } from "../../src/stores/redis/single.ts";
import { redisThreads } from "../../src/stores/redis/threads.ts";
import { sampleCommit } from "../stores/samples.ts";
import { temporaryFolder } from "../support/data-dir.ts";
import { startRedis } from "../support/redis-server.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { ask, transportHeaders } from "./client.ts";
import { replyTo } from "./echo-model.ts";
import { inEveryOrder } from "./every-order.ts";
import type { Actor, Gate } from "./every-order.ts";
import { mustHave, startFleet } from "./fleet.ts";
import { killVictims } from "./victims.ts";

/**
 * P9: a process that was taken for gone only slept. It wakes at any moment of its being taken up and forgotten, claims a
 * thread, and dies at any moment, mostly before it beats again: whatever it holds then is taken up all the same.
 */
let redis: RedisServer;
let link: RedisLink;
let client: Awaited<ReturnType<typeof connect>>;

beforeAll(async () => {
  redis = await startRedis();
  link = await linkToServer(redis.url, { warn() {} });
  client = await connect(redis);
});

afterAll(async () => {
  await killVictims();
  client.destroy();
  link.close();
  await redis.stop();
});

/** A client that is not the store's. */
function connect({ url }: RedisServer) {
  return createClient({ url }).connect();
}

type StoreOfProcess = Pick<Store, "processId" | "beat" | "heldBy" | "forget" | "load" | "commit">;

/** What the store on Redis has about who holds a thread; with a gate before each command that meets this thread. */
function openProcess(uid: string, gate: Gate | null): StoreOfProcess {
  const processId = newId();
  const straight = createCommands({ link, durability: "local" });
  const commands = gate ? gated(straight, uid, gate) : straight;
  const liveness = redisLiveness(commands, processId);
  const threads = redisThreads(commands);
  return {
    ...liveness,
    ...threads,
    processId,
    commit: (commit) => liveness.whileKnown((heardAtMs) => threads.commit(commit, heardAtMs)),
  };
}

/** Commands to other buckets change nothing here, and pass. */
function gated(commands: RedisCommands, uid: string, gate: Gate): RedisCommands {
  const firstOf = (keys: Record<string, string>) => Object.values(keys)[0];
  const turn = async (key = "") => {
    if (key.includes("{g}") || key.includes(`{t:${bucketOf(uid)}}`)) await gate.pass();
  };
  return {
    call: (name, keys, args, list) => turn(firstOf(keys)).then(() => commands.call(name, keys, args, list)),
    ask: (name, keys, args) => turn(firstOf(keys)).then(() => commands.ask(name, keys, args)),
    read: (key, ...args) => turn(key).then(() => commands.read(key, ...args)),
    write: (key, ...args) => turn(key).then(() => commands.write(key, ...args)),
  };
}

/** One look around, by which everybody who did not beat in this millisecond is silent. */
async function lookAround(store: StoreOfProcess): Promise<void> {
  const recovery = createRecovery({
    store: {
      ...store,
      beat: () => store.beat(0),
      heldBy: (holder) => (holder === store.processId ? Promise.resolve([]) : store.heldBy(holder)),
      due: () => Promise.resolve([]),
    },
    clock: systemClock,
    timers: systemTimers,
    log: { info() {}, warn: (fields) => expect(fields).toBeUndefined(), error() {} },
    isOurs: () => false,
    takeUp: {
      async take(uid, fence) {
        const record = await store.load(uid, 1);
        if (record?.fence === fence) await claim(store, { uid, rev: record.rev, takesFrom: fence });
      },
      expire: () => Promise.resolve(),
    },
  });
  await recovery.start();
  recovery.stop();
}

function claim(store: StoreOfProcess, thread: { uid: string; rev: number; takesFrom: string | null }) {
  return store.commit(sampleCommit({ ...thread, opId: newId(), fence: newFence(store.processId) }));
}

/**
 * Plays every order of what a sleeper does when it wakes and of another's look; answers the orders after which nobody
 * takes up what it held.
 */
async function heldForGood({ forgetsAtOnce = false } = {}): Promise<string[]> {
  const orders: string[] = [];
  await inEveryOrder(async () => {
    const uid = newId();
    await client.del(globalKeys.instances);
    const turn = { pass: () => Promise.resolve() };
    const sleeper = openProcess(uid, { pass: () => turn.pass() });
    await sleeper.beat(0);
    await pause(2);

    const wake: Actor = {
      mayDie: true,
      async act(gate) {
        turn.pass = () => gate.pass();
        await claim(sleeper, { uid, rev: 0, takesFrom: null });
        await sleeper.beat(0);
      },
    };
    const look: Actor = {
      act(gate) {
        const looker = openProcess(uid, gate);
        if (forgetsAtOnce) {
          looker.forget = async (gone) => {
            await gate.pass();
            await client.zRem(globalKeys.instances, gone);
          };
        }
        return lookAround(looker);
      },
    };
    return {
      actors: [wake, look],
      async judge(order) {
        const heir = openProcess(uid, null);
        for (let looks = 0; looks < 2; looks++) {
          await pause(2);
          await lookAround(heir);
        }
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

  test("a control: forgotten at once, it leaves a thread held for good", async () => {
    expect(await heldForGood({ forgetsAtOnce: true })).not.toEqual([]);
  });

  test("leaves nothing held when it was stopped with SIGSTOP, and dies before it beats", async () => {
    const fleet = await startFleet();
    const client = await connect(fleet.redis);
    await mustHave(fleet.victims[0]).kill9();
    // The second change of a message is the claim.
    await fleet.restart(0, { weakness: "beats-once", crash: { at: 2, mode: "after" } });
    const sleeper = mustHave(fleet.victims[0]);
    sleeper.pause();
    while ((await client.zCard(globalKeys.instances)) > 1) await pause(20);
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

  test("on the embedded store leaves what it held to the next start, whatever it did last", async () => {
    const leftBehind: string[] = [];
    await inEveryOrder(async () => {
      const dataDir = temporaryFolder();
      const open = () => openEmbeddedStore({ dataDir, clock: systemClock });
      const store = await open();
      const wake: Actor = {
        mayDie: true,
        async act(gate) {
          await gate.pass();
          await claim(store, { uid: "t1", rev: 0, takesFrom: null });
          await gate.pass();
          await store.beat(0);
        },
      };
      return {
        actors: [wake],
        async judge(order) {
          const heir = await open();
          await lookAround(heir);
          const fence = (await heir.load("t1", 1))?.fence;
          if (fence && holderOf(fence) === store.processId) leftBehind.push(order);
          await Promise.all([store.close(), heir.close()]);
        },
      };
    });
    expect(leftBehind).toEqual([]);
  });
});
