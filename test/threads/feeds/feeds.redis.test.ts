// For src/threads/feeds/
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Store } from "../../../src/store.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { startRedisCluster } from "../../support/stores/redis-cluster.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { UNHURRIED_MS } from "../../support/unhurried.ts";
import { answers, createInstance, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { pageCall } from "../scripted-agent.ts";
import { setTime } from "../set-time.ts";
import type { SetTime } from "../set-time.ts";
import { createFeedClient, shapeOf } from "./feed-reader.ts";
import type { FeedClient } from "./feed-reader.ts";

const WITHIN = { timeout: 30_000, interval: 10 };

const grounds: [string, () => Promise<{ urls: string[]; stop(): Promise<void> }>][] = [
  [
    "one Redis",
    async () => {
      const redis = await startRedis();
      return { urls: [redis.url], stop: () => redis.stop() };
    },
  ],
  ["a cluster", startRedisCluster],
];

/** A store that its process can reach until it dies. */
function mortalStore(store: Store): { store: Store; die: () => void } {
  let isDead = false;
  const reached = Object.entries(store).map(([name, method]: [string, unknown]) => {
    if (typeof method !== "function" || name === "close") return [name, method];
    return [
      name,
      (...args: unknown[]): unknown =>
        isDead ? Promise.reject(new StoreUnavailable(name)) : Reflect.apply(method, store, args),
    ];
  });
  return { store: { ...store, ...Object.fromEntries(reached) } as Store, die: () => void (isDead = true) };
}

describe.each(grounds)("feeds of three instances on %s", (_name, startGround) => {
  let ground: { urls: string[]; stop(): Promise<void> };
  let owner: Instance;
  let heir: Instance;
  /** Says nothing, owns nothing; its time stands still, so that it hears by words alone. */
  let idle: Instance;
  let time: SetTime;
  let ownerDies = () => {};
  let threads = 0;
  let uid = "";

  beforeAll(async () => {
    ground = await startGround();
  });

  beforeEach(async () => {
    uid = `thread-${threads++}`;
    const open = () =>
      openRedisStore({
        urls: ground.urls,
        durability: "local",
        clock: systemClock,
        log: { warn() {} },
        deadlineMs: UNHURRIED_MS,
      });
    time = setTime();
    const mortal = mortalStore(await open());
    ownerDies = mortal.die;
    owner = createInstance(mortal.store);
    heir = createInstance(await open());
    idle = createInstance(await open(), time);
    for (const instance of [owner, heir, idle]) await instance.threads.start();
  });

  afterEach(async () => {
    for (const { threads: ending, store } of [owner, heir, idle]) {
      await ending.drain(0).catch(() => {});
      await store.close();
    }
  });

  afterAll(() => ground.stop());

  async function follow(instance: Instance, after: string | null): Promise<FeedClient> {
    const client = createFeedClient();
    client.read(await instance.threads.openFeed(uid, after));
    return client;
  }

  const everywhere = () => Promise.all([owner, heir, idle].map((instance) => follow(instance, "")));

  /** What each was told, once the slowest has been told so much. */
  async function shapesOf(clients: readonly FeedClient[], length: number): Promise<string[][]> {
    const shapes = () => clients.map(({ lines }) => shapeOf(lines));
    await expect.poll(() => Math.min(...shapes().map((shape) => shape.length)), WITHIN).toBe(length);
    return shapes();
  }

  const alike = (clients: readonly FeedClient[], shape: string[]) => clients.map(() => shape);

  it("a conversation that one has is told by all, each line once", async () => {
    const clients = await everywhere();
    (await owner.threads.say(says(uid, "One"))).read(() => {});
    const turn = await owner.agent.turn();
    const begun = ["idle", "user 1", "running"];
    expect(await shapesOf(clients, 3)).toEqual(alike(clients, begun));
    // It waits in the queue of a thread that another instance holds.
    (await heir.threads.say(says(uid, "Two"))).read(() => {});
    turn.finish();
    const second = await owner.agent.turn();
    const upToTheSecond = ["idle", "user 1", "running", "assistant 2"];
    for (const { lines } of clients) {
      await expect.poll(() => shapeOf(lines).at(-2), WITHIN).toBe("user 3");
      expect(shapeOf(lines).slice(0, 4)).toEqual(upToTheSecond);
    }
    second.finish();
    for (const client of clients) {
      await expect.poll(() => client.lastState()?.state, WITHIN).toBe("idle");
      expect(client.ids).toEqual(["1", "2", "3", "4"]);
    }
  });

  it("a thread that nobody owns is told of by whoever changes it", async () => {
    const clients = await everywhere();
    (await owner.threads.say(says(uid, "Into the cart"))).read(() => {});
    (await owner.agent.turn()).call(pageCall("c1"));
    const resting = ["idle", "user 1", "running", "awaiting"];
    expect(await shapesOf(clients, 4)).toEqual(alike(clients, resting));
    (await heir.threads.answer(answers(uid, "c1"))).read(() => {});
    const turn = await heir.agent.turn();
    expect(await shapesOf(clients, 5)).toEqual(alike(clients, [...resting, "running"]));
    turn.finish();
    const whole = [...resting, "running", "assistant 2", "idle"];
    expect(await shapesOf(clients, 7)).toEqual(alike(clients, whole));
  });

  it("a run whose owner dies is told once, by who takes it over", async () => {
    const clients = await Promise.all([heir, idle].map((instance) => follow(instance, "")));
    (await owner.threads.say(says(uid, "Hello"))).read(() => {});
    (await owner.agent.turn()).write("Half a rep");
    const begun = ["idle", "user 1", "running"];
    expect(await shapesOf(clients, 3)).toEqual(alike(clients, begun));
    ownerDies();
    (await heir.agent.turn()).finish();
    expect(await shapesOf(clients, 5)).toEqual(alike(clients, [...begun, "assistant 2", "idle"]));
  });

  it("who loses every word is told all the same, some seconds later", async () => {
    const client = await follow(idle, null);
    idle.store.onMessage(() => {});
    (await owner.threads.say(says(uid, "Hello"))).read(() => {});
    (await owner.agent.turn()).finish();
    await expect.poll(() => owner.threads.held(), WITHIN).toBe(0);
    expect(client.ids).toEqual([]);
    await expect
      .poll(() => {
        time.pass(500);
        return client.ids;
      }, WITHIN)
      .toEqual(["1", "2"]);
  });

  it("commits answer no watcher for a thread without feeds, and each process once for one with many", async () => {
    const commits: (string[] | undefined)[] = [];
    const { store } = owner;
    const watched = createInstance({
      ...store,
      commit: async (change) => {
        const result = await store.commit(change);
        if (result.type === "committed") commits.push(result.watchers);
        return result;
      },
    });
    const speak = async () => {
      (await watched.threads.say(says(uid, "x"))).read(() => {});
      (await watched.agent.turn()).finish();
      await expect.poll(() => watched.threads.held(), WITHIN).toBe(0);
      return commits.splice(0);
    };
    expect(await speak()).toEqual([undefined, undefined]);
    await everywhere();
    await everywhere();
    for (const watchers of await speak()) {
      const all = [owner, heir, idle].map((instance) => instance.store.processId);
      expect(watchers?.toSorted()).toEqual(all.toSorted());
    }
    await watched.threads.drain(0);
  });
});
