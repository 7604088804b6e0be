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
  const log = { warn() {} };
  const store = await openRedisStore({ urls: [redis.url], durability: "local", clock: systemClock, log });
  onTestFinished(() => store.close());
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
    store,
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
