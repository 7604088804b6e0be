// For src/stores/engines/redis/cluster/
import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../src/store.ts";
import { until } from "../support/until.ts";
import { holderOfThread, startCaller } from "./callers.ts";
import { clusterForTest, HUNG_MS, storeForTest, uidAt } from "./opened.ts";
import { pairForTest, swapRoles, untilInStep } from "./pair.ts";
import type { Pair } from "./pair.ts";

describe("P24: a primary that becomes a replica behind a connection that is kept", () => {
  it("is left: READONLY sends the caller to the address again, where the new one answers", async () => {
    const pair = await pairForTest();
    const store = await storeForTest([pair.url]);
    const holds = holderOfThread(store, "t1");
    await holds();
    await untilInStep(pair);
    pair.address.lead(pair.replica.server.port);
    await swapRoles(pair);

    const errors: unknown[] = [];
    await until("the new primary is written to", async () => {
      try {
        await store.setCatalog("t1", "shop", [{ name: "tool" }]);
        return true;
      } catch (error) {
        errors.push(error);
        return false;
      }
    });
    expect(errors.every((error) => error instanceof StoreUnavailable)).toBe(true);
    await holds();
    await holds();
    expect((await store.health()).reachable).toBe(true);
  });

  it("swaps its role in a cluster, and callers wait at most", async () => {
    const cluster = await clusterForTest();
    const store = await storeForTest(cluster.urls);
    const [primary] = await cluster.primaries();
    if (!primary) throw new Error("Cannot choose a primary");
    const caller = startCaller(holderOfThread(store, await uidAt(cluster, primary)));
    await caller.answered(5);
    const replica = await cluster.replicaOf(primary);
    await cluster.swap(replica);
    await caller.answered(10);
    await cluster.swap(primary);
    await caller.answered(10);
    expect(caller.errors).toEqual([]);
  });
});

describe("P24: health tells whether anything can be written", () => {
  it.each([
    ["it is a replica", (pair: Pair) => swapRoles(pair), (pair: Pair) => swapRoles(turned(pair))],
    [
      "it has fewer replicas than it asks for",
      ({ primary }: Pair) => primary.orders.send("CONFIG", "SET", "min-replicas-to-write", "2"),
      ({ primary }: Pair) => primary.orders.send("CONFIG", "SET", "min-replicas-to-write", "0"),
    ],
    [
      "its memory is full",
      ({ primary }: Pair) => primary.orders.send("CONFIG", "SET", "maxmemory", "1"),
      ({ primary }: Pair) => primary.orders.send("CONFIG", "SET", "maxmemory", "0"),
    ],
  ])("no while %s, and yes after it", async (_, begin, end) => {
    const pair = await pairForTest();
    const store = await storeForTest([pair.url]);
    const put = () => store.setCatalog("t1", "shop", [{ name: "tool" }]);
    await put();
    expect((await store.health()).reachable).toBe(true);

    await begin(pair);
    await expect(put()).rejects.toThrow(StoreUnavailable);
    expect((await store.health()).reachable).toBe(false);

    await end(pair);
    await until("the store is well", async () => (await store.health()).reachable);
    await put();
  });

  it("yes while one primary of a cluster hangs, which a warning names", async () => {
    const cluster = await clusterForTest();
    const store = await storeForTest(cluster.urls, { deadlineMs: HUNG_MS });
    const shared = await cluster.primaryOf("{g}");
    const [hung] = (await cluster.primaries()).filter((primary) => primary !== shared);
    hung?.hang();
    const { reachable, warnings } = await store.health();
    expect(reachable).toBe(true);
    expect(warnings.filter((warning) => warning.includes(`:${hung?.port}`))).toHaveLength(1);
  });
});

function turned({ primary, replica, ...rest }: Pair): Pair {
  return { primary: replica, replica: primary, ...rest };
}
