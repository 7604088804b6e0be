// For src/stores/engines/redis/cluster/, src/stores/engines/redis/, src/stores/
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../../src/store.ts";
import { tables } from "../../../src/stores/tables.ts";
import { isFull } from "../../faults/lengths.ts";
import { startRedisCluster } from "../../support/stores/redis-cluster.ts";
import type { RedisCluster } from "../../support/stores/redis-cluster.ts";
import { dumpRedis } from "../dump-store.ts";
import { describeStore } from "../contract/contract.ts";
import { itEqualsTheReference } from "../twin/equivalence.ts";
import { checkInvariants } from "../twin/invariants.ts";
import { orderEach, redisStores } from "./open-redis.ts";
import { BUDGET_CHARS, SLUG, sampleChannel, sampleCommit, sampleMessage } from "../samples.ts";

let cluster: RedisCluster;
const { open, closeAll, openForTest } = redisStores(() => cluster.urls);
const orderNodes = (...command: string[]) => orderEach(cluster.urls, ...command);

beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterEach(closeAll);
afterAll(() => cluster.stop());

describeStore("Redis Cluster", openForTest);

describe("Redis Cluster", () => {
  itEqualsTheReference(openForTest, {
    runs: 10,
    elapses: false,
    faults: async () => checkInvariants(await dumpRedis(cluster.urls)),
  });
});

const claim = sampleCommit({ opId: "claim", fence: "p:a", messages: [sampleMessage(1)] });
const committed = { type: "committed", rev: 1, next: null };

describe("on a cluster", () => {
  it("N3: one of its nodes is enough to find it, whether it has what all share or not, with a word on it", async () => {
    await orderNodes("FLUSHALL");
    for (const [nth, url] of cluster.urls.entries()) {
      const warned: string[] = [];
      const store = await open({ urls: [url], log: { warn: (_, text) => void warned.push(text) } });
      await store.putChannel(sampleChannel({ slug: `of-${nth}` }));
      expect(await store.channels()).toHaveLength(nth + 1);
      expect(warned).toEqual([expect.stringContaining("Name several, separated by commas")]);
    }
  });

  it("the threads of one channel spread over all nodes", async () => {
    await orderNodes("FLUSHALL");
    const store = await open();
    await store.putChannel(sampleChannel());
    await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        store.commit(
          sampleCommit({
            uid: `thread-${i}`,
            opId: `claim-${i}`,
            fence: `${store.processId}:${i}`,
            slug: SLUG,
            messages: [sampleMessage(1)],
          }),
        ),
      ),
    );
    const headers = (await orderNodes("KEYS", "h:*")) as string[][];
    const counts = headers.map((keys) => keys.length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(300);
    for (const count of counts) expect(count).toBeGreaterThan(50);
    expect(await store.heldBy(store.processId)).toHaveLength(300);
  });

  /** The slot of a thread, who has it, and who has not. */
  async function whereabouts(uid: string) {
    const [slot] = await orderNodes("CLUSTER", "KEYSLOT", tables.header.key(uid));
    const ids = (await orderNodes("CLUSTER", "MYID")) as string[];
    const owner = Math.floor((Number(slot) * 3) / 16_384);
    const other = (owner + 1) % 3;
    return { slot: String(slot), owner, other, ownerId: ids[owner] ?? "", otherId: ids[other] ?? "" };
  }

  async function orderAt(node: number, ...command: string[]): Promise<unknown> {
    return (await orderEach([cluster.urls[node] ?? ""], ...command))[0];
  }

  it("a slot that is moving to another node is followed (ASK), and found again there (MOVED)", async () => {
    await orderNodes("FLUSHALL");
    const store = await open();
    const { slot, owner, other, ownerId, otherId } = await whereabouts("t1");
    await store.changeCount();
    await orderAt(other, "CLUSTER", "SETSLOT", slot, "IMPORTING", ownerId);
    await orderAt(owner, "CLUSTER", "SETSLOT", slot, "MIGRATING", otherId);
    await store.setCatalog("t1", SLUG, [{ name: "tool" }]);
    expect(await store.commit(claim)).toEqual(committed);
    expect(((await orderNodes("KEYS", "h:*")) as string[][])[other]).toHaveLength(1);

    await orderAt(other, "CLUSTER", "SETSLOT", slot, "NODE", otherId);
    await orderAt(owner, "CLUSTER", "SETSLOT", slot, "NODE", otherId);
    expect((await store.load("t1", BUDGET_CHARS))?.catalog).toEqual([{ name: "tool" }]);
    // Home again, for the tests that follow: who imports a slot has the last word on whose it is.
    await orderAt(other, "FLUSHALL");
    await orderAt(owner, "CLUSTER", "SETSLOT", slot, "IMPORTING", otherId);
    await orderAt(owner, "CLUSTER", "SETSLOT", slot, "NODE", ownerId);
    await orderAt(other, "CLUSTER", "SETSLOT", slot, "NODE", ownerId);
  });

  it("P24: a node that falls silent makes its own threads unavailable within 2 s, and no others for good", async () => {
    await orderNodes("FLUSHALL");
    const store = await open();
    const { owner, other } = await whereabouts("t1");
    const elsewhere = await uidAt(other);
    await store.commit(claim);
    cluster.nodes[owner]?.pause();
    try {
      const startedMs = performance.now();
      await expect(store.load("t1", BUDGET_CHARS)).rejects.toThrow(StoreUnavailable);
      if (isFull) expect(performance.now() - startedMs).toBeLessThan(2_500);
    } finally {
      cluster.nodes[owner]?.resume();
    }
    for (const uid of ["t1", elsewhere]) {
      const isThere = () =>
        store.load(uid, BUDGET_CHARS).then(
          () => true,
          () => false,
        );
      await expect.poll(isThere).toBe(true);
    }
    expect(await store.commit(claim)).toEqual(committed);
  });

  async function uidAt(node: number): Promise<string> {
    for (let i = 0; ; i++) if ((await whereabouts(`t${i}`)).owner === node) return `t${i}`;
  }
});
