import { EVERYTHING } from "../../../src/store.ts";
import type { InstanceStore, Share } from "../../../src/store.ts";
import type { Process } from "../instance/process.ts";
import type { Call } from "./calls.ts";
import type { Cluster } from "./cluster.ts";
import { beat, enter, forget, leave, retire } from "./node-data.ts";
import type { StoreNode } from "./node.ts";

/** Heartbeats on one node; on each node what a process holds there, and the list of those that may hold something. */
export function createLiveness(
  cluster: Cluster,
  process: Process,
  call: Call,
): Omit<InstanceStore, "processId" | "send" | "onMessage"> {
  const instances = cluster.ofInstances();

  function eachNode<Result>(
    { rank, of }: Share,
    ask: (node: StoreNode) => Promise<Result[]>,
  ): Promise<Result[]> {
    const asked = cluster.nodes.filter((_, nth) => nth % of === rank);
    return Promise.all(asked.map(ask)).then((answers) => answers.flat());
  }

  return {
    beat: () =>
      call(instances, { action: "beat", isWrite: true, step: async (data) => beat(data, process.id) }),

    retire: () =>
      call(instances, { action: "retire", isWrite: true, step: async (data) => retire(data, process.id) }),

    enter: (unknown) =>
      call(instances, {
        action: "enter unknown processes",
        isWrite: true,
        step: async (data) => enter(data, unknown),
      }),

    holders: (share) =>
      eachNode(share, (node) =>
        call(node, { action: "list holders", isWrite: false, step: async (data) => [...data.holders] }),
      ),

    async heldBy(holder, share = EVERYTHING) {
      // Other processes are alive until their heartbeats say otherwise.
      if (holder === null) return [];
      return eachNode(share, (node) =>
        call(node, {
          action: "list held threads",
          isWrite: false,
          step: ({ twin }) => twin.heldBy(holder),
        }),
      );
    },

    async forget(gone) {
      const left = await Promise.all(
        cluster.nodes.map((node) =>
          call(node, {
            action: "strike off a holder",
            isWrite: true,
            step: (data) => leave(data, gone.processId),
          }),
        ),
      );
      if (left.includes(false)) return;
      await call(instances, {
        action: "forget a process",
        isWrite: true,
        step: async (data) => forget(data, gone),
      });
    },

    due: async (atMs, limit, share = EVERYTHING, except) =>
      (
        await eachNode(share, (node) =>
          call(node, {
            action: "list expired calls",
            isWrite: false,
            step: ({ twin }) => twin.due(atMs, limit, undefined, except),
          }),
        )
      ).slice(0, limit),

    onReconnect: (callback) => cluster.onReconnect(() => process.deliver(callback)),
  };
}
