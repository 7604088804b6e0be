import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import { tables } from "../../../src/stores/tables.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { startReplicatedCluster } from "../../support/stores/replicated-cluster.ts";
import type { ReplicatedCluster } from "../../support/stores/replicated-cluster.ts";
import { startEchoModel } from "../victims/echo-model.ts";
import { webChannel } from "../fault-channels.ts";
import { settled, startInstances } from "../history/instances.ts";
import type { Instances } from "../history/instances.ts";
import { untilAnswered } from "../history/workload.ts";
import type { WrittenFleet } from "../history/workload.ts";

export type Durability = "local" | "replica";

/** Processes of the service on a Redis Cluster of three primaries with a replica each, and the model behind them. */
export interface ClusterFleet extends Omit<WrittenFleet, "victims">, Omit<Instances, "stop"> {
  durability: Durability;
  cluster: ReplicatedCluster;
  /** What the store holds, seen through the callers' network. */
  store: Store;
  /** Web channels by their publishable keys: one on each shard. */
  channels: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

const INSTANCES = 3;

/** Longer than this machine stands still by itself: nobody is promoted whom no nemesis asked for. */
const NODE_TIMEOUT_MS = 5_000;
/** Who was called failed by mistake is called so for twice as long. */
const PATIENT_MS = 10_000;

/** So long are runs that a fault finds most threads in the midst of one. */
const REPLY_MS = 250;

/** `elects: false`: nobody is promoted but by a nemesis, however busy the machine is. */
export async function startClusterFleet(
  durability: Durability,
  { elects }: { elects: boolean },
): Promise<ClusterFleet> {
  const cluster = await startReplicatedCluster({
    proxies: true,
    busProxies: elects,
    mayFill: true,
    elects,
    nodeTimeoutMs: elects ? NODE_TIMEOUT_MS : PATIENT_MS,
    // However long a replica has heard nothing, it may be elected: the partition has cut it off, too.
    args: ["--appendfsync", "always", "--cluster-replica-validity-factor", "0"],
  });
  await cluster.whole();
  const model = await startEchoModel();
  model.pace(REPLY_MS);
  const store = await untilAnswered(() =>
    openRedisStore({
      urls: cluster.urls,
      durability: "local",
      clock: systemClock,
      log: { warn() {} },
    }),
  );
  const channels = await putChannels(cluster, store);
  const env = {
    OPENAI_BASE_URL: model.baseUrl,
    REDIS_URL: cluster.urls.join(","),
    DURABILITY: durability,
  };
  const { victims, restart, stop } = await startInstances({ count: INSTANCES, env });

  return {
    durability,
    cluster,
    store,
    channels,
    victims,
    restart,
    settled: (uids) => settled(store, uids),

    async close() {
      await stop();
      await store.close();
      await model.close();
      await cluster.stop();
    },
  };
}

/** One for each primary, which keeps it. Publishable key → slug. */
async function putChannels(cluster: ReplicatedCluster, store: Store): Promise<Map<string, string>> {
  const channels = new Map<string, string>();
  for (const primary of await cluster.primaries()) {
    let slug = "";
    for (let i = 0; slug === "" || (await cluster.primaryOf(tables.channel.key(slug))) !== primary; i++)
      slug = `shop-${i}`;
    const channel = webChannel(slug, `pk_${slug}`);
    await untilAnswered(() => store.putChannel(channel));
    channels.set(`pk_${slug}`, slug);
  }
  return channels;
}
