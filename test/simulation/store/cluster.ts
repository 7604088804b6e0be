import type { Write } from "../../../src/stores/engine.ts";
import { channelFields } from "../../../src/stores/steps/channels.ts";
import { operatorText } from "../../../src/stores/steps/operators.ts";
import { bucketOf, tables } from "../../../src/stores/tables.ts";
import type { Plan } from "../plan.ts";
import type { World } from "../world.ts";
import { channelsWith, KEEPER, OPERATORS } from "../channels.ts";
import { EPOCH_MS } from "../instance/machine.ts";
import { createNode } from "./node.ts";
import type { StoreNode } from "./node.ts";

/** The simulated cluster: three primaries, over which the slots are spread. */
export interface Cluster {
  readonly nodes: readonly [StoreNode, StoreNode, StoreNode];
  ofSlot(slot: string): StoreNode;
  ofThread(uid: string): StoreNode;
  ofChannel(slug: string): StoreNode;
  ofInstances(): StoreNode;
  /** Sets the clock of the servers forward, or back. */
  jump(ms: number): void;
  setClockRight(): void;
  /** Calls back when somebody is connected to another server than before. */
  onReconnect(callback: () => void): () => void;
}

export type ClusterWorld = Pick<World, "time" | "plan" | "randomOf" | "judge">;

export function createCluster({ time, plan, randomOf, judge }: ClusterWorld): Cluster {
  const random = randomOf("replicas");
  let offsetMs = 0;
  const reconnected = new Set<() => void>();
  const reconnect = () => reconnected.forEach((callback) => callback());
  const node = (name: string) =>
    createNode({
      name,
      time,
      durability: plan.durability,
      initial: initialWrites(plan),
      now: () => Math.floor(EPOCH_MS + time.nowMs + offsetMs),
      lagMs: () => random.between(...plan.replicaLagMs),
      onCut(cut, kept) {
        judge({ type: "writes lost", node: cut, kept });
        reconnect();
      },
      onStragglersBack(left) {
        judge({ type: "stragglers back", node: left });
        reconnect();
      },
    });
  const nodes: Cluster["nodes"] = [node("N1"), node("N2"), node("N3")];

  /** Buckets one after the other; the channels elsewhere than the instances, each on a node of its own. */
  function ofSlot(slot: string): StoreNode {
    const nth = slot.startsWith("t:") ? parseInt(slot.slice(2), 16) : ["g", "c:shop", "c:cli"].indexOf(slot);
    return nodes[nth % nodes.length] ?? nodes[0];
  }

  return {
    nodes,
    ofSlot,
    ofThread: (uid) => ofSlot(`t:${bucketOf(uid)}`),
    ofChannel: (slug) => ofSlot(`c:${slug}`),
    ofInstances: () => ofSlot("g"),
    jump: (ms) => void (offsetMs += ms),
    setClockRight: () => void (offsetMs = 0),
    onReconnect(callback) {
      reconnected.add(callback);
      return () => reconnected.delete(callback);
    },
  };
}

/** Each node has all of it: where it is looked for is of no interest to these tests. */
function initialWrites({ retention }: Pick<Plan, "retention">): Write[] {
  const channels = channelsWith(retention);
  const operators = [...OPERATORS, KEEPER];
  return [
    { write: "set", key: tables.channels.key, fields: channels.map(({ slug }) => [slug, ""]) },
    ...channels.map((channel): Write => ({
      write: "set",
      key: tables.channel.key(channel.slug),
      fields: channelFields(channel),
    })),
    {
      write: "set",
      key: tables.operators.key,
      fields: operators.map((operator) => [operator.name, operatorText(operator)]),
    },
  ];
}
