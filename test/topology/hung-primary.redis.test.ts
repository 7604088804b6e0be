// For src/stores/engines/redis/cluster/
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../src/store.ts";
import { isFull } from "../faults/lengths.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import type { ClusterNode } from "../support/stores/cluster-node.ts";
import type { ClusterOptions, ReplicatedCluster } from "../support/stores/replicated-cluster.ts";
import { sendMessage, TEST_KEY } from "../support/servers/service.ts";
import { spawnCommand, startServiceProcess } from "../support/servers/service-process.ts";
import { sampleCommit } from "../stores/samples.ts";
import { until } from "../support/until.ts";
import { errorsOf, holderOfThread, startCaller } from "./callers.ts";
import type { Caller } from "./callers.ts";
import { clusterForTest, HUNG_MS, LONG_MS, storeForTest, uidAt } from "./opened.ts";

/** The store's deadline, and the rest; asserted at full length alone, on a machine that does nothing else. */
const IN_TIME_MS = isFull ? HUNG_MS + 500 : Infinity;

interface Scene {
  cluster: ReplicatedCluster;
  hit: ClusterNode;
  replica: ClusterNode;
  /** Of the shard that will be hit. */
  caller: Caller;
  /** One of each other shard. */
  others: Caller[];
}

/** One instance, with one thread on each shard; every caller has been served. */
async function scene(options: ClusterOptions = {}, deadlineMs = HUNG_MS): Promise<Scene> {
  const cluster = await clusterForTest(options);
  const store = await storeForTest(cluster.urls, { deadlineMs });
  const primaries = await cluster.primaries();
  const [hit] = primaries;
  const [caller, ...others] = await Promise.all(
    primaries.map(async (primary) => {
      const mayLose = primary === hit;
      return startCaller(holderOfThread(store, await uidAt(cluster, primary), { mayLose }));
    }),
  );
  if (!hit || !caller) throw new Error("Cannot set the scene: the cluster has no primary");
  await Promise.all([caller, ...others].map((each) => each.answered(5)));
  return { cluster, hit, replica: await cluster.replicaOf(hit), caller, others };
}

/** Callers are refused as in an outage, and in no other way. */
function onlyOutages({ errors }: Caller): boolean {
  return errors.every((error) => error instanceof StoreUnavailable);
}

describe("P24: a primary that hangs (SIGSTOP)", () => {
  it("costs the callers of the other shards nothing", async () => {
    const { hit, caller, others } = await scene();
    hit.hang();
    await caller.refused(3);
    await Promise.all(others.map((other) => other.answered(50)));
    expect(errorsOf(others)).toEqual({});
  });

  it("costs the callers of its own shard a refusal in time, until its replica is promoted", async () => {
    const { cluster, hit, replica, caller, others } = await scene();
    hit.hang();
    await caller.refused(3);
    expect(caller.slowestMs).toBeLessThan(IN_TIME_MS);
    expect(onlyOutages(caller)).toBe(true);

    await cluster.promote(replica);
    await caller.answered(5);
    await Promise.all(others.map((other) => other.answered(50)));
    expect(errorsOf(others)).toEqual({});
  });

  it("hides no thread of another shard from those who look for threads to take up", async () => {
    const cluster = await clusterForTest();
    const store = await storeForTest(cluster.urls, { deadlineMs: HUNG_MS });
    const primaries = await cluster.primaries();
    const uids = await Promise.all(primaries.map((primary) => uidAt(cluster, primary)));
    for (const uid of uids) await store.commit(sampleCommit({ uid, opId: "claim", fence: "gone:a" }));
    expect(await store.heldBy("gone")).toHaveLength(uids.length);
    primaries[0]?.hang();
    const held = new Set((await store.heldBy("gone")).map(({ uid }) => uid));
    expect(held).toEqual(new Set(uids.slice(1)));
    expect(await store.due(0, 10)).toEqual([]);
  });

  it("is left for the replica that the cluster itself elects", async () => {
    const { hit, caller } = await scene({ elects: true, nodeTimeoutMs: 1_000 });
    hit.hang();
    await caller.refused(1);
    await caller.answered(5);
    expect(onlyOutages(caller)).toBe(true);
  });

  it("is followed back: promoted away from, woken, and promoted again", async () => {
    const { cluster, hit, replica, caller, others } = await scene();
    hit.hang();
    await caller.refused(1);
    await cluster.promote(replica);
    await caller.answered(5);
    hit.wake();
    await cluster.swap(hit);
    await caller.answered(5);
    expect(onlyOutages(caller)).toBe(true);
    expect(errorsOf(others)).toEqual({});
  });

  it("hinders no new instance, whichever node that one asks first", async () => {
    const cluster = await clusterForTest();
    const [hit, ...well] = await cluster.primaries();
    hit?.hang();
    for (const from of cluster.urls.keys()) {
      const urls = [...cluster.urls.slice(from), ...cluster.urls.slice(0, from)];
      const store = await storeForTest(urls, { deadlineMs: HUNG_MS });
      for (const primary of well) {
        const uid = `${await uidAt(cluster, primary)}`;
        await store.setCatalog(uid, "shop", [{ name: `seen from ${from}` }]);
        expect((await store.load(uid, 0))?.catalog).toEqual([{ name: `seen from ${from}` }]);
      }
    }
  });
});

describe("P24: a way to one primary that falls silent, without a reset", () => {
  it("costs the callers of the other shards nothing, and its own come back with it", async () => {
    const { hit, caller, others } = await scene({ proxies: true });
    hit.clients?.silence();
    await caller.refused(3);
    expect(caller.slowestMs).toBeLessThan(IN_TIME_MS);
    hit.clients?.resume();
    await caller.answered(5);
    expect(errorsOf(others)).toEqual({});
  });

  it("is given up where only new connections get through", async () => {
    const { hit, caller, others } = await scene({ proxies: true });
    hit.clients?.silence();
    await caller.refused(1);
    hit.clients?.lose();
    await caller.answered(5);
    expect(errorsOf(others)).toEqual({});
  });

  it("costs no more when it is cut with a reset", async () => {
    const { hit, caller, others } = await scene({ proxies: true });
    for (let cuts = 0; cuts < 5; cuts++) {
      hit.clients?.reset();
      await caller.answered(2);
    }
    expect(errorsOf(others)).toEqual({});
    expect(onlyOutages(caller)).toBe(true);
  });
});

describe("P24: a cluster that calls itself down for a moment", () => {
  it("costs its callers a delay, and no error", async () => {
    const { cluster, hit, caller, others } = await scene({}, LONG_MS);
    // A node that misses a slot, and is told to serve all or nothing.
    await hit.orders.send("CONFIG", "SET", "cluster-require-full-coverage", "yes");
    await hit.orders.send("CLUSTER", "DELSLOTS", await unusedSlot(cluster, hit));
    await until("a call is told that the cluster is down", async () =>
      String(await hit.orders.send("INFO", "errorstats")).includes("errorstat_CLUSTERDOWN"),
    );
    await hit.orders.send("CONFIG", "SET", "cluster-require-full-coverage", "no");
    await caller.answered(5);
    expect(errorsOf([caller, ...others])).toEqual({});
  });
});

/** One of a node's slots that holds no key. */
async function unusedSlot(cluster: ReplicatedCluster, node: ClusterNode): Promise<string> {
  for (let i = 0; ; i++) {
    const key = `unused-${i}`;
    if ((await cluster.primaryOf(key)) !== node) continue;
    const slot = String(await node.orders.send("CLUSTER", "KEYSLOT", key));
    if ((await node.orders.send("CLUSTER", "COUNTKEYSINSLOT", slot)) === 0) return slot;
  }
}

describe("a service that starts while a primary hangs", () => {
  /** Its one channel is not on that primary. */
  async function settings(cluster: ReplicatedCluster, hung: ClusterNode): Promise<NodeJS.ProcessEnv> {
    let slug = "bot";
    for (let i = 0; (await cluster.primaryOf(`{c:${slug}}`)) === hung; i++) slug = `bot-${i}`;
    const CHANNELS_FILE = join(temporaryFolder(), "channels.json");
    writeFileSync(CHANNELS_FILE, JSON.stringify({ channels: [{ slug, kind: "transport" }] }));
    hung.hang();
    return {
      CHANNELS_FILE,
      SLUG: slug,
      DATA_DIR: temporaryFolder(),
      HARNESS_API_KEY: TEST_KEY,
      REDIS_URL: cluster.urls.join(","),
    };
  }

  it("serves what the other shards keep, and refuses the rest in time", async () => {
    const cluster = await clusterForTest();
    const shared = await cluster.primaryOf("{g}");
    const [hung] = (await cluster.primaries()).filter((primary) => primary !== shared);
    if (!hung) throw new Error("Cannot choose a primary");
    const env = await settings(cluster, hung);
    const { url } = await startServiceProcess(env);
    const statuses = await Promise.all(
      Array.from({ length: 24 }, async (_, i) => {
        const message = { threadId: `t${i}`, userId: "me", text: "Hello", channel: String(env["SLUG"]) };
        return (await sendMessage(url, message)).status;
      }),
    );
    // Threads fall on the shards by chance: of so many, on each.
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
  });

  it("F3: serves the channels that it can read, and the one whose record is there once that is back", async () => {
    const cluster = await clusterForTest();
    const shared = await cluster.primaryOf("{g}");
    const [hung] = (await cluster.primaries()).filter((primary) => primary !== shared);
    if (!hung) throw new Error("Cannot choose a primary");
    const slugOn = async (isHung: boolean) => {
      for (let i = 0; ; i++) {
        const slug = `bot-${i}`;
        if (((await cluster.primaryOf(`{c:${slug}}`)) === hung) === isHung) return slug;
      }
    };
    const [here, away] = [await slugOn(false), await slugOn(true)];
    const CHANNELS_FILE = join(temporaryFolder(), "channels.json");
    const channels = [here, away].map((slug) => ({ slug, kind: "transport" }));
    writeFileSync(CHANNELS_FILE, JSON.stringify({ channels }));
    const env = {
      CHANNELS_FILE,
      DATA_DIR: temporaryFolder(),
      HARNESS_API_KEY: TEST_KEY,
      REDIS_URL: cluster.urls.join(","),
    };
    const askEach = async (url: string, slug: string) => {
      const asked = Array.from({ length: 24 }, (_, i) =>
        sendMessage(url, { threadId: `t${i}`, userId: "me", text: "Hello", channel: slug }),
      );
      return new Set((await Promise.all(asked)).map(({ status }) => status));
    };

    // A first start, which has to write the channel's record; and one that has to read it.
    for (let starts = 0; starts < 2; starts++) {
      hung.hang();
      const service = await startServiceProcess(env);
      expect(await askEach(service.url, here)).toEqual(new Set([200, 503]));
      expect(await askEach(service.url, away)).toEqual(new Set([503]));
      const warned = service.output.stdout.filter(
        (line) => line.includes('"level":40') && line.includes(away),
      );
      expect(warned.length).toBeGreaterThan(0);
      hung.wake();
      await until(
        "the channel is served",
        async () => [...(await askEach(service.url, away))].every((status) => status === 200),
        () => service.output.stdout.join("\n"),
      );
    }
  });

  it("ends with code 1 and one sentence where what all share is on it", async () => {
    const cluster = await clusterForTest();
    const env = await settings(cluster, await cluster.primaryOf("{g}"));
    const { exit, output } = spawnCommand(["serve"], { PORT: "0", ...env });
    expect(await exit).toBe(1);
    expect(output.stderr).toMatch(/^Cannot .+$/m);
  });
});
