import type { ClusterNode } from "./cluster-node.ts";
import type { ReplicatedCluster } from "./replicated-cluster.ts";
import { until } from "../until.ts";

/** The slot of a key on its way from primary to primary, key by key: half here and half there for as long as a test likes. */
export interface SlotMove {
  slot: string;
  from: ClusterNode;
  to: ClusterNode;
  /** What is still where it was. */
  left(): Promise<string[]>;
  /** Carries keys over. */
  carry(keys: string[]): Promise<void>;
  /** Carries the rest over; every primary learns whose the slot is now. */
  finish(): Promise<void>;
}

const CARRY_MS = "5000";
const AT_ONCE = 100;

/** Opens the move as `redis-cli --cluster reshard --cluster-replace` does: the target imports, then the source hands over. */
export async function openMove(
  cluster: ReplicatedCluster,
  key: string,
  options: { to?: ClusterNode } = {},
): Promise<SlotMove> {
  const from = await cluster.primaryOf(key);
  const others = (await cluster.primaries()).filter((node) => node !== from);
  const to = must(options.to ?? others[0]);
  const slot = String(await from.orders.send("CLUSTER", "KEYSLOT", key));
  await haveHeard(to, from);
  await to.orders.send("CLUSTER", "SETSLOT", slot, "IMPORTING", from.id);
  await from.orders.send("CLUSTER", "SETSLOT", slot, "MIGRATING", to.id);

  async function left(): Promise<string[]> {
    return (await from.orders.send("CLUSTER", "GETKEYSINSLOT", slot, "100000")) as string[];
  }

  async function carry(keys: string[]): Promise<void> {
    const address = ["127.0.0.1", String((to.peers ?? to).port)];
    for (let i = 0; i < keys.length; i += AT_ONCE) {
      const some = keys.slice(i, i + AT_ONCE);
      await from.orders.send("MIGRATE", ...address, "", "0", CARRY_MS, "REPLACE", "KEYS", ...some);
    }
  }

  return {
    slot,
    from,
    to,
    left,
    carry,
    async finish() {
      for (let keys = await left(); keys.length > 0; keys = await left()) await carry(keys);
      for (const node of new Set([to, from, ...others])) {
        await node.orders.send("CLUSTER", "SETSLOT", slot, "NODE", to.id);
      }
    },
  };
}

/**
 * A target takes a slot under a higher epoch than the highest that it has heard of. Where that is not the source's, what the
 * source said before takes the slot back, and both name each other for good.
 */
async function haveHeard(node: ClusterNode, of: ClusterNode): Promise<void> {
  const its = await epochIn(of, "cluster_my_epoch");
  await until("the target has heard of the source's epoch", async () => {
    return (await epochIn(node, "cluster_current_epoch")) >= its;
  });
}

async function epochIn(node: ClusterNode, field: string): Promise<number> {
  const info = String(await node.orders.send("CLUSTER", "INFO"));
  return Number(new RegExp(`^${field}:(\\d+)`, "m").exec(info)?.[1]);
}

function must(node: ClusterNode | undefined): ClusterNode {
  if (!node) throw new Error("Cannot move a slot: there is no other primary");
  return node;
}
