import { onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { tables } from "../../src/stores/tables.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { startReplicatedCluster } from "../support/stores/replicated-cluster.ts";
import type { ClusterNode } from "../support/stores/cluster-node.ts";
import type { ClusterOptions, ReplicatedCluster } from "../support/stores/replicated-cluster.ts";

/** A cluster of the test's own, gone with it. */
export async function clusterForTest(options: ClusterOptions = {}): Promise<ReplicatedCluster> {
  const cluster = await startReplicatedCluster(options);
  onTestFinished(() => cluster.stop());
  return cluster;
}

/** Longer than anything but a server that hangs, on however slow a machine. */
export const LONG_MS = 60_000;

/** For tests in which a server hangs: each call of it takes so long. */
export const HUNG_MS = 5_000;

/** A store as one instance of the service opens it, closed with the test. */
export async function storeForTest(
  urls: string[],
  options: Partial<Parameters<typeof openRedisStore>[0]> = {},
): Promise<Store> {
  const store = await openRedisStore({
    urls,
    durability: "local",
    clock: systemClock,
    log: { warn() {} },
    deadlineMs: LONG_MS,
    ...options,
  });
  onTestFinished(() => store.close());
  return store;
}

/** The uid of a thread that this primary keeps. */
export async function uidAt(cluster: ReplicatedCluster, primary: ClusterNode): Promise<string> {
  for (let i = 0; ; i++) {
    const uid = `thread-${i}`;
    if ((await cluster.primaryOf(tables.header.key(uid))) === primary) return uid;
  }
}
