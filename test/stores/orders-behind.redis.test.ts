import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { activityKey, busyKey, changesKey } from "../../src/stores/redis/keys.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { redisClient } from "../support/redis-client.ts";
import { startRedis } from "../support/redis-server.ts";
import { sampleChannel, sampleCommit, sampleMessage, SLUG } from "./samples.ts";

/** Lists are written behind commits: keys of another kind in their places refuse every write to them. */
async function open() {
  const redis = await startRedis({ args: ["--appendonly", "no"] });
  onTestFinished(() => redis.stop());
  async function openOne() {
    const log = { warn() {} };
    const opened = await openRedisStore({ urls: [redis.url], durability: "local", clock: systemClock, log });
    onTestFinished(() => opened.close());
    return opened;
  }
  const store = await openOne();
  await store.putChannel(sampleChannel());
  while (await store.fillOrders());
  const visitor = { slug: SLUG, snapshot: "visitor", ttlMs: 60_000, atMs: 1 };
  await store.mintVisitor({ ...visitor, tokenHash: "hash", userId: "ann" });
  for (const uid of ["ends", "rests", "goes-on"])
    await store.addThread({ slug: SLUG, userId: "ann", threadId: uid, uid, atMs: 1 });
  const client = redisClient(redis.url);
  await client.connect();
  onTestFinished(() => client.destroy());
  const keys = [activityKey(SLUG), changesKey(SLUG), busyKey(SLUG, "running"), busyKey(SLUG, "awaiting")];
  return {
    openOne,
    store,
    client,
    block: () => Promise.all(keys.map((key) => client.sendCommand(["SET", key, "no list"]))),
    free: () => client.sendCommand(["DEL", ...keys]),
  };
}

test("a message is committed whatever becomes of the lists by activity and state, and is in them as soon as they can be written", async () => {
  const { store, block, free } = await open();
  await block();
  const said = [
    { uid: "ends", state: "idle", holds: false },
    { uid: "rests", state: "awaiting", holds: false, deadlineMs: Date.now() + 60_000 },
    { uid: "goes-on", state: "running", holds: true },
  ] as const;
  for (const [nth, more] of said.entries()) {
    const messages = [sampleMessage(1, { createdAtMs: 1_000 + nth })];
    const commit = sampleCommit({ opId: more.uid, fence: `p:${nth}`, messages, ...more });
    expect(await store.commit(commit)).toMatchObject({ type: "committed" });
  }
  await free();
  const page = { limit: 10, after: null, sinceMs: 0, untilMs: Infinity };
  const listed = async (state?: "running" | "awaiting") =>
    (await store.channelThreads(SLUG, state ? { ...page, state } : page)).items.map(({ uid }) => uid);
  await expect.poll(() => listed()).toEqual(["goes-on", "rests", "ends"]);
  await expect.poll(() => listed("awaiting")).toEqual(["rests"]);
  await expect.poll(() => listed("running")).toEqual(["goes-on"]);
});

test("a thread that another instance brought to rest is in no list by its state, whoever writes last", async () => {
  const { openOne, store, client } = await open();
  const other = await openOne();
  const commit = { uid: "rests", holds: false } as const;
  const waits = sampleCommit({ ...commit, opId: "1", fence: "p:1", state: "waiting_for_person" });
  expect(await store.commit(waits)).toMatchObject({ type: "committed", rev: 1 });
  const rests = sampleCommit({ ...commit, opId: "2", fence: "q:1", rev: 1, readOp: "1", state: "idle" });
  expect(await other.commit(rests)).toMatchObject({ type: "committed" });
  // Each writes what it has left.
  await other.close();
  await store.close();
  expect(await client.zRange(busyKey(SLUG, "waiting_for_person"), 0, -1)).toEqual([]);
});

test("what a process that died had to take out of the lists by state is taken out when it is forgotten", async () => {
  const { store, client } = await open();
  const awaits = {
    uid: "rests",
    opId: "1",
    fence: "p:1",
    state: "awaiting",
    deadlineMs: 1,
    holds: false,
  } as const;
  expect(await store.commit(sampleCommit(awaits))).toMatchObject({ type: "committed" });
  const running = busyKey(SLUG, "running");
  const members = ["ends", "goes-on", "rests", "deleted"].map((value) => ({ score: 5, value }));
  await client.zAdd(running, members);
  const goesOn = sampleCommit({ uid: "goes-on", opId: "2", fence: "p:2" });
  expect(await store.commit(goesOn)).toMatchObject({ type: "committed" });

  await client.zAdd("instances:{g}", { score: 7, value: "dead" });
  await store.forget({ processId: "dead", stamp: "6" });
  expect(await client.zCard(running)).toBe(4);
  await store.forget({ processId: "dead", stamp: "7" });
  await expect.poll(() => client.zRange(running, 0, -1)).toEqual(["goes-on"]);
  expect(await client.zRange(busyKey(SLUG, "awaiting"), 0, -1)).toEqual(["rests"]);
});
