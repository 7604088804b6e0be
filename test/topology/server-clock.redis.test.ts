import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Store } from "../../src/store.ts";
import { openOrders } from "../support/redis-orders.ts";
import { startRedis } from "../support/redis-server.ts";
import { until } from "../support/until.ts";
import { loadWatchedLibrary } from "../support/watched-library.ts";
import type { WatchedLibrary } from "../support/watched-library.ts";
import { sampleCommit } from "../stores/samples.ts";
import { storeForTest } from "./opened.ts";

const HOUR_MS = 3_600_000;
/** So long that nobody falls silent meanwhile, on however slow a machine. */
const LONG_MS = 600_000;
/** So short that whoever says nothing is silent soon. */
const SHORT_MS = 200;

/*
 * The server's clock is set by an operator, by NTP, or by a failover to a machine whose clock differs. What counts is
 * how long a process was not heard of, which each of the others can tell by its own watch.
 */
describe("P27: the clock of Redis jumps by an hour", () => {
  let library: WatchedLibrary;
  let one: Store;
  let other: Store;

  beforeEach(async () => {
    const redis = await startRedis({ args: ["--appendonly", "no"] });
    const orders = openOrders(redis.url);
    library = await loadWatchedLibrary(orders);
    [one, other] = await Promise.all([storeForTest([redis.url]), storeForTest([redis.url])]);
    onTestFinished(async () => {
      orders.close();
      await redis.stop();
    });
  });

  it("ahead: nobody who lives is taken for gone", async () => {
    await other.beat(LONG_MS);
    expect(await one.beat(LONG_MS)).toEqual([]);
    await library.setClock(HOUR_MS);
    expect(await one.beat(LONG_MS)).toEqual([]);
  });

  it("back: who is gone is found out as soon as ever", async () => {
    await library.setClock(HOUR_MS);
    await other.beat(SHORT_MS);
    await library.setClock(0);
    await until("the silent one is found", async () => (await one.beat(SHORT_MS)).length > 0);
    expect(await one.beat(SHORT_MS)).toEqual([other.processId]);
  });

  it("back: who was forgotten, and only slept, claims again", async () => {
    await other.beat(SHORT_MS);
    await until("the silent one is found", async () => (await one.beat(SHORT_MS)).length > 0);
    await one.forget(other.processId);
    await library.setClock(-HOUR_MS);
    const fence = `${other.processId}:a`;
    const claim = sampleCommit({ uid: "t1", opId: "claim", fence });
    expect(await other.commit(claim)).toMatchObject({ type: "committed" });
  });
});
