import type { InstanceStore } from "../../../src/store.ts";
import type { Process } from "../instance/process.ts";
import type { Call } from "./calls.ts";
import type { Cluster } from "./cluster.ts";
import { beat, enter, forget, leave, retire } from "./node-data.ts";

/**
 * Who lives, and which threads somebody should look after, as the ownership protocol wants it: each node lists the
 * processes that may hold something there, and whoever is listed and not known among the heartbeats is entered there, to
 * beat or to be found silent. So an unknown holder is a dead one.
 */
export function createLiveness(
  cluster: Cluster,
  process: Process,
  call: Call,
): Pick<InstanceStore, "beat" | "retire" | "heldBy" | "forget" | "due"> {
  const instances = cluster.ofInstances();
  /** Of the last beat: silent processes, and when each was last heard of. */
  let silent = new Map<string, number>();
  let beats = 0;

  /** Looks at the holders of one node after each beat, in turns. */
  async function lookForUnknown(): Promise<void> {
    const node = cluster.nodes[beats++ % cluster.nodes.length] ?? instances;
    const holders = await call(node, {
      action: "list holders",
      isWrite: false,
      step: async (data) => [...data.holders],
    });
    const known = await call(instances, {
      action: "list instances",
      isWrite: false,
      step: async (data) => [...data.heard.keys()],
    });
    for (const holder of holders.filter((one) => !known.includes(one))) {
      await call(instances, {
        action: "enter an unknown process",
        isWrite: true,
        step: async (data) => enter(data, holder),
      });
    }
  }

  return {
    async beat(ttlMs) {
      const reported = await call(instances, {
        action: "beat",
        isWrite: true,
        step: async (data) => beat(data, process.id, ttlMs),
      });
      silent = new Map(reported);
      // The next look is as good.
      lookForUnknown().catch(() => {});
      return reported.map(([id]) => id);
    },

    retire: () =>
      call(instances, { action: "retire", isWrite: true, step: async (data) => retire(data, process.id) }),

    async heldBy(holder) {
      // Other processes are alive until `beat` says otherwise.
      if (holder === null) return [];
      const held = await Promise.all(
        cluster.nodes.map((node) =>
          call(node, {
            action: "list held threads",
            isWrite: false,
            step: ({ twin }) => twin.heldBy(holder),
          }),
        ),
      );
      return held.flat();
    },

    async forget(gone) {
      const heardAtMs = silent.get(gone);
      if (heardAtMs === undefined) return;
      const left = await Promise.all(
        cluster.nodes.map((node) =>
          call(node, { action: "strike off a holder", isWrite: true, step: (data) => leave(data, gone) }),
        ),
      );
      if (left.includes(false)) return;
      await call(instances, {
        action: "forget a process",
        isWrite: true,
        step: async (data) => forget(data, gone, heardAtMs),
      });
    },

    async due(atMs, limit) {
      const due = await Promise.all(
        cluster.nodes.map((node) =>
          call(node, {
            action: "list expired calls",
            isWrite: false,
            step: ({ twin }) => twin.due(atMs, limit),
          }),
        ),
      );
      return due.flat().slice(0, limit);
    },
  };
}
