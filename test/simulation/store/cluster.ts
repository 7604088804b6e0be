import type { World } from "../world.ts";
import { channelsWith } from "../channels.ts";
import { EPOCH_MS } from "../instance/machine.ts";
import { createNode } from "./node.ts";
import type { StoreNode } from "./node.ts";

/** The simulated cluster: three primaries. Threads are spread over them; each channel, and the instances, are on one. */
export interface Cluster {
  readonly nodes: readonly [StoreNode, StoreNode, StoreNode];
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
      channels: channelsWith(plan.retention),
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
  const places = new Map<string, StoreNode>();

  /** In turns, in the order in which they are first named: a hash of a random id would not repeat. */
  function placeOf(name: string): StoreNode {
    const known = places.get(name);
    if (known) return known;
    const place = nodes[places.size % nodes.length] ?? nodes[0];
    places.set(name, place);
    return place;
  }

  return {
    nodes,
    ofThread: (uid) => placeOf(`thread ${uid}`),
    ofChannel: (slug) => placeOf(`channel ${slug}`),
    ofInstances: () => nodes[0],
    jump: (ms) => void (offsetMs += ms),
    setClockRight: () => void (offsetMs = 0),
    onReconnect(callback) {
      reconnected.add(callback);
      return () => reconnected.delete(callback);
    },
  };
}
