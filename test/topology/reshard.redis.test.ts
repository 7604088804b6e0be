// For src/stores/engines/redis/cluster/
import { describe, expect, it } from "vitest";
import { tables } from "../../src/stores/tables.ts";
import type { Store } from "../../src/store.ts";
import { checkInvariants } from "../stores/twin/invariants.ts";
import { BUDGET_CHARS, sampleChannel, sampleCommit, sampleMessage, SLUG } from "../stores/samples.ts";
import { dumpRedis } from "../stores/dump-store.ts";
import type { ClusterNode } from "../support/stores/cluster-node.ts";
import { openMove } from "../support/stores/slot-move.ts";
import { until } from "../support/until.ts";
import { errorsOf, holderOfThread, startCaller } from "./callers.ts";
import { clusterForTest, storeForTest } from "./opened.ts";

const TTL_MS = 1_000_000;
const UIDS = ["t1", "t2", "t3"];

/** Visitors who come in for the first time, and again. */
function visitors(store: Store): () => Promise<void> {
  let count = 0;
  let known: string | null = null;
  return async () => {
    if (known === null) {
      const tokenHash = `h${count + 1}`;
      const user = { userId: `u${count + 1}`, snapshot: "anonymous", atMs: count };
      await store.mintVisitor({ slug: SLUG, tokenHash, ttlMs: TTL_MS, ...user });
      count += 1;
      known = tokenHash;
      return;
    }
    const asked = { slug: SLUG, tokenHash: known, ttlMs: TTL_MS, threadId: null };
    if (!(await store.admitVisitor(asked))) throw new Error(`Refused: the token ${known}`);
    known = null;
  };
}

describe("P24: a reshard under load", () => {
  it("costs callers a delay, and no error", async () => {
    const cluster = await clusterForTest();
    const store = await storeForTest(cluster.urls);
    await store.putChannel(sampleChannel());
    const callers = [
      ...UIDS.map((uid) => startCaller(holderOfThread(store, uid))),
      startCaller(visitors(store)),
    ];
    await Promise.all(callers.map((caller) => caller.answered(4)));

    const tags = [...UIDS.map((uid) => tables.header.key(uid)), tables.channel.key(SLUG)];
    for (let round = 0; round < 3; round++) {
      for (const tag of tags) {
        const move = await openMove(cluster, tag);
        // Key by key, and everybody asks for something between two of them.
        for (const key of (await move.left()).slice(0, 8)) {
          await move.carry([key]);
          await Promise.all(callers.map((caller) => caller.asked(1)));
          expect(errorsOf(callers)).toEqual({});
        }
        await move.finish();
      }
    }
    await Promise.all(callers.map((caller) => caller.answered(4)));
    await Promise.all(callers.map((caller) => caller.stop()));
    expect(errorsOf(callers)).toEqual({});
    const urls = (await cluster.primaries()).map(({ url }) => url);
    expect(checkInvariants(await dumpRedis(urls))).toEqual([]);
  });

  it("to a node that has no slot yet, and has never heard of the functions, likewise", async () => {
    const cluster = await clusterForTest({ spares: 1 });
    const store = await storeForTest(cluster.urls);
    const holds = holderOfThread(store, "t1");
    await holds();
    await holds();
    const move = await openMove(cluster, tables.header.key("t1"), {
      to: cluster.nodes.at(-1) as ClusterNode,
    });
    for (const key of await move.left()) {
      await move.carry([key]);
      await holds();
    }
    await holds();
    await move.finish();
    await holds();
    await holds();
    expect((await store.load("t1", BUDGET_CHARS))?.rev).toBeGreaterThan(2);
  });

  it("keeps every connection: a call that waits for a slot says nothing of its node", async () => {
    const cluster = await clusterForTest();
    const store = await storeForTest(cluster.urls);
    const commit = (opId: string) =>
      store.commit(sampleCommit({ uid: "t1", opId, fence: "p:a" })).catch(() => {});
    await commit("claim");
    const connections = async () => {
      const lists = await Promise.all(cluster.nodes.map(({ orders }) => orders.send("CLIENT", "LIST")));
      return lists.map((list) => [...String(list).matchAll(/^id=(\d+)/gm)].map(([, id]) => id));
    };
    const move = await openMove(cluster, tables.header.key("t1"));
    const before = await connections();
    await commit("claim");
    await commit("again");
    for (const [node, ids] of (await connections()).entries())
      expect(ids).toEqual(expect.arrayContaining(before[node] ?? []));
    await move.finish();
  });

  it("waits for the slot where it may not bring keys together itself (without +migrate)", async () => {
    const cluster = await clusterForTest();
    const rules = ["on", "nopass", "~*", "&*", "+@all", "-migrate"];
    for (const { orders } of cluster.nodes) await orders.send("ACL", "SETUSER", "weak", ...rules);
    const urls = cluster.urls.map((url) => url.replace("redis://", "redis://weak:any@"));
    const store = await storeForTest(urls);
    const uid = "t1";
    const commit = sampleCommit({ uid, opId: "claim", fence: "p:a", messages: [sampleMessage(1)] });
    await store.setCatalog(uid, SLUG, [{ name: "tool" }]);
    const move = await openMove(cluster, tables.header.key(uid));
    const committing = store.commit(commit);
    await until("the commit is refused, and tried again", async () => {
      const refusals = String(await move.from.orders.send("INFO", "errorstats"));
      return Number(/errorstat_TRYAGAIN:count=(\d+)/.exec(refusals)?.[1] ?? 0) > 3;
    });
    expect(await move.left()).toHaveLength(1);
    await move.finish();
    expect(await committing).toEqual({ type: "committed", rev: 1, next: null });
  });
});
