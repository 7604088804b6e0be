// For src/stores/engines/redis/cluster/
import { describe, expect, it, onTestFinished } from "vitest";
import { readVisitorToken } from "../../src/domain/people/visitor-token.ts";
import type { Store } from "../../src/store.ts";
import { tables } from "../../src/stores/tables.ts";
import { clientOf } from "../identity/channel-client.ts";
import type { ChannelClient } from "../identity/channel-client.ts";
import { echoOrCall } from "../identity/script.ts";
import { openHouse, webChannel } from "../scenarios/houses.ts";
import { terminalOf } from "../scenarios/page.ts";
import { BUDGET_CHARS, SLUG } from "../stores/samples.ts";
import { dumpRedis } from "../stores/dump-store.ts";
import type { ReplicatedCluster } from "../support/stores/replicated-cluster.ts";
import { until } from "../support/until.ts";
import { clusterForTest, HUNG_MS, storeForTest } from "./opened.ts";

/*
 * WAIT answers for the writes before it on its connection. What is read later shows those writes too, and says nothing
 * of the replica: who acknowledges from a read must ask as well. From Redis 7.2 on, a WAIT after nothing but reads answers
 * at once: so the reader is another instance than the one that wrote.
 */

/** Two instances with DURABILITY=replica, asked in turn, and one web channel, whose store is told apart from theirs. */
async function serviceOn(cluster: ReplicatedCluster): Promise<{ client: ChannelClient; store: Store }> {
  const house = await openHouse(
    {
      name: "redis cluster",
      instances: 2,
      prepare: async () => ({
        nodes: cluster.nodes.map(({ url }) => url),
        open: (onCommand) =>
          storeForTest(cluster.urls, { durability: "replica", deadlineMs: HUNG_MS, onCommand }),
        dump: async () => dumpRedis((await cluster.primaries()).map(({ url }) => url)),
        remove: async () => {},
      }),
    },
    echoOrCall,
  );
  onTestFinished(() => house.close());
  await house.putChannel(webChannel(SLUG));
  return { client: clientOf(house, SLUG), store: await storeForTest(cluster.urls) };
}

/** The shard of a key: its replica stops hearing from its primary, hears everything after all, or takes its place. */
async function shardOf(cluster: ReplicatedCluster, key: string) {
  const primary = await cluster.primaryOf(key);
  const replica = await cluster.replicaOf(primary);
  return {
    lag: () => primary.peers?.silence(),
    catchUp: () => primary.peers?.resume(),
    async failOver() {
      primary.peers?.lose();
      await primary.kill9();
      await cluster.promote(replica);
    },
  };
}

describe("P26: with DURABILITY=replica, what only the primary has is acknowledged by nobody", () => {
  it("not by a repeat of identify, which finds it done", async () => {
    const cluster = await clusterForTest({ proxies: true });
    const { client, store } = await serviceOn(cluster);
    const { token } = await client.newVisitor();
    const identify = async () => (await client.identify(token, "kim")).status;
    const shard = await shardOf(cluster, tables.channel.key(SLUG));

    shard.lag();
    expect(await identify()).toBe(503);
    expect([await identify(), await identify()]).toEqual([503, 503]);

    shard.catchUp();
    await until("identify is acknowledged", async () => (await identify()) === 200);
    await shard.failOver();
    const { tokenHash = "" } = readVisitorToken(token) ?? {};
    const read = () => store.readIdentity(SLUG, tokenHash, "kim");
    await until("the new primary answers", () => read().then(Boolean, () => false));
    const { visitor, account } = await read();
    expect(account).not.toBeNull();
    expect(visitor?.user).toEqual(account);
  });

  it("not by a repeat of a tool's result, which finds it taken", async () => {
    const cluster = await clusterForTest({ proxies: true });
    const { client, store } = await serviceOn(cluster);
    const { token, userId } = await client.newVisitor();
    const { threadId, uid } = await threadApart(cluster, client, store, { token, userId });
    await client.register(token, threadId);
    const asked = terminalOf(await client.say(token, threadId, "call it"));
    if (asked.type !== "tool_call") throw new Error(`Cannot answer a call: ${asked.type} came`);
    const answer = async () => (await client.answer(token, threadId, asked.callId)).status;
    const shard = await shardOf(cluster, tables.header.key(uid));

    shard.lag();
    expect(await answer()).toBe(503);
    expect([await answer(), await answer()]).toEqual([503, 503]);

    shard.catchUp();
    await until("the result is acknowledged", async () => (await answer()) === 200);
    await shard.failOver();
    const load = () => store.load(uid, BUDGET_CHARS);
    await until("the new primary answers", () => load().then(Boolean, () => false));
    expect((await load())?.run?.answered).toMatchObject({ callId: asked.callId });
  });
});

/** A thread on another shard than its channel, whose every request writes there and waits for that shard's replica. */
async function threadApart(
  cluster: ReplicatedCluster,
  client: ChannelClient,
  store: Store,
  { token, userId }: { token: string; userId: string },
): Promise<{ threadId: string; uid: string }> {
  const channels = await cluster.primaryOf(tables.channel.key(SLUG));
  for (;;) {
    const threadId = await client.newThread(token);
    const entry = (await store.threads(SLUG, userId)).find((each) => each.threadId === threadId);
    if (!entry) throw new Error(`Cannot find the thread ${threadId}`);
    if ((await cluster.primaryOf(tables.header.key(entry.uid))) !== channels)
      return { threadId, uid: entry.uid };
  }
}
