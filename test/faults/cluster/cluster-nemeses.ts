import { setTimeout as pause } from "node:timers/promises";
import type { ClusterNode } from "../../support/stores/cluster-node.ts";
import { openMove } from "../../support/stores/slot-move.ts";
import { until } from "../../support/until.ts";
import { isPrimary } from "../../support/stores/whole-cluster.ts";
import type { ClusterFleet } from "./cluster-fleet.ts";
import { mustHave } from "../history/instances.ts";

/** What a nemesis is done to: one shard of a fleet's cluster, while callers write to it. */
export interface Scene {
  fleet: ClusterFleet;
  primary: ClusterNode;
  replica: ClusterNode;
  /** Keys of the shard that callers use. */
  keys: readonly string[];
  /** From 0 to 1. */
  random: () => number;
  /** Resolves when a message was acknowledged that was sent since it was asked, to a thread of this shard. */
  acknowledgedThere: () => Promise<void>;
}

/** A fault: it begins, lasts, and is undone. The cluster becomes whole by itself then. */
export interface ClusterNemesis {
  /** null: it does nothing to a shard. */
  hits: "a shard" | null;
  /** With DURABILITY=local, what was acknowledged just before may be lost. */
  mayLose: boolean;
  begin(scene: Scene): Promise<void> | void;
  last(scene: Scene): Promise<void>;
  undo(scene: Scene): Promise<void> | void;
}

const HOLD_MS = 3_000;
/** After a promotion: callers are served by the new primary. */
const SERVED_MS = 1_500;
/** More than what a node notes of the cluster, less than it has written. */
const FULL_BYTES = 16_384;
const MOST_SLOTS = 5;

const hold = () => pause(HOLD_MS);

/** The cluster's own doing, and that callers are served for a while. */
async function elected({ replica }: Scene): Promise<void> {
  await until("the replica is elected", () => isPrimary(replica));
  await pause(SERVED_MS);
}

export const clusterNemeses = {
  "hung primary, elected replica": {
    hits: "a shard",
    mayLose: true,
    begin: ({ primary }) => primary.hang(),
    last: elected,
    undo: ({ primary }) => primary.wake(),
  },

  "primary killed, elected replica": {
    hits: "a shard",
    mayLose: true,
    begin: ({ primary }) => primary.kill9(),
    last: elected,
    undo: ({ fleet, primary }) => fleet.cluster.restart(primary),
  },

  "primary lost behind a lag, replica promoted by TAKEOVER": {
    hits: "a shard",
    mayLose: true,
    async begin({ fleet, primary, acknowledgedThere }) {
      primary.peers?.silence();
      // With `replica` nothing is acknowledged now.
      await (fleet.durability === "local" ? acknowledgedThere() : pause(1_000));
    },
    async last({ fleet, primary, replica }) {
      primary.peers?.lose();
      await primary.kill9();
      await fleet.cluster.promote(replica);
      await pause(SERVED_MS);
    },
    undo: ({ fleet, primary }) => fleet.cluster.restart(primary),
  },

  "partition: primary cut off from the nodes, not from callers": {
    hits: "a shard",
    mayLose: true,
    begin({ fleet, primary }) {
      for (const node of fleet.cluster.nodes) {
        const from = node === primary ? undefined : primary.source;
        node.bus?.silence(from);
        node.peers?.silence(from);
      }
    },
    last: elected,
    undo({ fleet }) {
      for (const { bus, peers } of fleet.cluster.nodes) {
        bus?.resume();
        peers?.resume();
      }
    },
  },

  "partition: callers cut off from one primary": {
    hits: "a shard",
    mayLose: false,
    begin: ({ primary }) => primary.clients?.silence(),
    last: hold,
    undo: ({ primary }) => primary.clients?.resume(),
  },

  "demotion: primary and replica swap": {
    hits: "a shard",
    mayLose: false,
    begin: ({ fleet, replica }) => fleet.cluster.swap(replica),
    last: hold,
    undo: ({ fleet, primary }) => fleet.cluster.swap(primary),
  },

  "replica lags": {
    hits: "a shard",
    mayLose: false,
    begin: ({ primary }) => primary.peers?.silence(),
    last: hold,
    undo: ({ primary }) => primary.peers?.resume(),
  },

  "live reshard, there and back": {
    hits: "a shard",
    mayLose: false,
    async begin({ fleet, primary, keys }) {
      const others = (await fleet.cluster.primaries()).filter((node) => node !== primary);
      await moveSlots(fleet, keys, mustHave(others[0]));
    },
    last: hold,
    undo: ({ fleet, primary, keys }) => moveSlots(fleet, keys, primary),
  },

  "full disk, appendfsync always: Redis ends itself": {
    hits: "a shard",
    mayLose: true,
    begin: async ({ primary }) => {
      primary.limitFiles(FULL_BYTES);
      await primary.ended();
    },
    last: elected,
    undo: ({ fleet, primary }) => fleet.cluster.restart(primary),
  },

  "full disk, appendfsync everysec: Redis refuses (MISCONF)": {
    hits: "a shard",
    mayLose: false,
    async begin({ primary }) {
      await primary.orders.send("CONFIG", "SET", "appendfsync", "everysec");
      primary.limitFiles(FULL_BYTES);
      await until("Redis cannot write", () => tells(primary, "aof_last_write_status:err"));
    },
    last: hold,
    async undo({ primary }) {
      primary.limitFiles(null);
      await until("Redis writes again", () => tells(primary, "aof_last_write_status:ok"));
      await primary.orders.send("CONFIG", "SET", "appendfsync", "always");
    },
  },

  "instance killed": {
    hits: null,
    mayLose: false,
    async begin({ fleet, random }) {
      await mustHave(fleet.victims[indexOf(fleet, random)]).kill9();
    },
    last: () => pause(300),
    async undo({ fleet }) {
      for (const [index, { alive }] of fleet.victims.entries()) if (!alive) await fleet.restart(index);
    },
  },
} satisfies Record<string, ClusterNemesis>;

export type ClusterNemesisName = keyof typeof clusterNemeses;

/** Takes back whatever a nemesis did that went wrong half-way. */
export async function undoAll({ cluster, victims, restart }: ClusterFleet): Promise<void> {
  for (const node of cluster.nodes) {
    for (const proxy of [node.clients, node.peers, node.bus]) proxy?.resume();
    if (!node.alive) await cluster.restart(node);
    node.wake();
    node.limitFiles(null);
  }
  for (const [index, { alive }] of victims.entries()) if (!alive) await restart(index);
  await cluster.whole();
}

async function tells({ orders }: ClusterNode, fact: string): Promise<boolean> {
  return String(await orders.send("INFO", "persistence")).includes(fact);
}

function indexOf({ victims }: ClusterFleet, random: () => number): number {
  return Math.floor(random() * victims.length);
}

/** Some of the slots that callers use, a few keys at a time. */
async function moveSlots({ cluster }: ClusterFleet, keys: readonly string[], to: ClusterNode): Promise<void> {
  for (const key of keys.slice(0, MOST_SLOTS)) {
    if ((await cluster.primaryOf(key)) === to) continue;
    const move = await openMove(cluster, key, { to });
    const left = await move.left();
    for (const carried of [left.slice(0, 3), left.slice(3, 6)]) {
      await move.carry(carried);
      await pause(50);
    }
    await move.finish();
  }
}
