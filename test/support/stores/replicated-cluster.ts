import { startClusterNode } from "./cluster-node.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { until } from "../until.ts";
import { allTell, areInStep, isPrimary, isWhole } from "./whole-cluster.ts";

const SLOTS = 16_384;
const SHARDS = 3;

/**
 * A real Redis Cluster that survives its nodes: three primaries with one replica each.
 *
 * Nothing is promoted unless the test says so, and the other shards go on serving while one is gone, so a test may hold
 * any state for as long as it likes. `elects` and `wholeOnly` give what Redis does by default.
 */
export interface ReplicatedCluster {
  /** As a client is given them: the proxies' where there are any. */
  urls: string[];
  nodes: ClusterNode[];
  /** The primary that has the key's slot, as the nodes that answer see it. */
  primaryOf(key: string): Promise<ClusterNode>;
  primaries(): Promise<ClusterNode[]>;
  replicaOf(primary: ClusterNode): Promise<ClusterNode>;
  /**
   * Makes a replica the primary, whether the old one is heard of or not (CLUSTER FAILOVER TAKEOVER); resolves when every
   * node that answers knows it.
   */
  promote(replica: ClusterNode): Promise<void>;
  /** Resolves when every node that answers knows that the replica is the primary now. */
  promoted(replica: ClusterNode): Promise<void>;
  /** Both swap their roles, and nothing is lost (CLUSTER FAILOVER): the old primary goes on as a replica. */
  swap(replica: ClusterNode): Promise<void>;
  /** Starts a dead node again, with the settings that it had. */
  restart(node: ClusterNode): Promise<void>;
  /**
   * Resolves when all nodes answer, agree on who has which slots and who follows whom, call nobody failed, and every
   * replica has all that its primary has.
   */
  whole(): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  proxies?: boolean;
  /** Replicas take the place of a primary that the others call failed. */
  elects?: boolean;
  /** While a slot is nobody's, nobody serves (cluster-require-full-coverage). */
  wholeOnly?: boolean;
  /** How long a node may be silent before the others call it failed. */
  nodeTimeoutMs?: number;
  /** Nodes that have no slot and no replica, beside the others. */
  spares?: number;
  /** With a proxy before each node's part of the bus: a partition is possible. */
  busProxies?: boolean;
  /** Disks that may be full (`limitFiles`). */
  mayFill?: boolean;
  args?: string[];
}

/** Resolves when every node sees the whole cluster, and every replica has all that its primary has. */
export async function startReplicatedCluster(options: ClusterOptions = {}): Promise<ReplicatedCluster> {
  const { proxies = false, busProxies: busProxy = false, mayFill = false, spares = 0, args = [] } = options;
  const starting = Array.from({ length: 2 * SHARDS + spares }, () =>
    startClusterNode({ proxies, busProxy, mayFill, args }),
  );
  const nodes = await Promise.all(starting);
  await join(nodes);
  await settle(nodes, options);
  const answering = () => nodes.filter(({ answers }) => answers);

  function named(id: string): ClusterNode {
    const node = nodes.find((each) => each.id === id);
    if (!node) throw new Error(`Cannot find the node ${id}`);
    return node;
  }

  async function seenBy(node: ClusterNode): Promise<Shard[]> {
    const ranges = (await node.orders.send("CLUSTER", "SLOTS")) as SlotRange[];
    return ranges.map(([from, to, [, , id], ...replicas]) => ({
      from,
      to,
      primary: named(id),
      replicas: replicas.map((replica) => named(replica[2])),
    }));
  }

  /** As a primary sees it: replicas are the last to hear of a slot that moved. */
  async function shards(): Promise<Shard[]> {
    for (const node of answering()) {
      const seen = await seenBy(node);
      if (seen.some(({ primary }) => primary === node)) return seen;
    }
    throw new Error("Cannot ask the cluster: no primary answers");
  }

  async function untilAllSee(what: string, isIt: (shard: Shard) => boolean): Promise<void> {
    for (const node of answering()) await until(what, async () => (await seenBy(node)).some(isIt));
  }

  const promoted = (replica: ClusterNode) =>
    untilAllSee("the new primary is known", ({ primary }) => primary === replica);

  return {
    urls: nodes.map(({ clients, url }) => (clients ? `redis://${clients.host}:${clients.port}` : url)),
    nodes,

    async primaryOf(key) {
      const slot = Number(await answering()[0]?.orders.send("CLUSTER", "KEYSLOT", key));
      const shard = (await shards()).find(({ from, to }) => from <= slot && slot <= to);
      if (!shard) throw new Error(`Cannot find the primary of slot ${slot}`);
      return shard.primary;
    },

    async primaries() {
      return [...new Set((await shards()).map(({ primary }) => primary))];
    },

    async replicaOf(primary) {
      let replica: ClusterNode | undefined;
      // One that seems to have failed, on a busy machine, is named by nobody.
      await until("a primary's replica is known", async () => {
        const shard = (await shards()).find((each) => each.primary === primary);
        replica = shard?.replicas[0];
        return replica !== undefined;
      });
      return must(replica);
    },

    async promote(replica) {
      // Where replicas elect each other, it may have been so a moment ago.
      if (!(await isPrimary(replica))) await replica.orders.send("CLUSTER", "FAILOVER", "TAKEOVER");
      await promoted(replica);
    },

    promoted,

    async swap(replica) {
      // Its primary listens to a replica that it knows, and the others vote for one that they know.
      await untilAllSee("the replica is known", ({ replicas }) => replicas.includes(replica));
      await swapRoles(replica);
      await promoted(replica);
      await until("every replica follows its primary", () => areInStep(answering()));
    },

    async restart(node) {
      await node.restart();
      await settle([node], options);
    },

    whole: () => until("the cluster is whole", () => isWhole(nodes)),

    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

/** Longer than Redis tries. */
const SWAP_MS = 6_000;
const AGAIN_MS = 300;

/** On a busy machine a replica may give up before it has what it lacks: it is told again then. */
async function swapRoles(replica: ClusterNode): Promise<void> {
  let toldAtMs = -Infinity;
  await until("the replica is a primary", async () => {
    if (await isPrimary(replica)) return true;
    if (performance.now() > toldAtMs + SWAP_MS) {
      toldAtMs = performance.now();
      // Its link to the primary may be away for a moment.
      await replica.orders.send("CLUSTER", "FAILOVER").catch(() => (toldAtMs += AGAIN_MS - SWAP_MS));
    }
    return false;
  });
}

function must(node: ClusterNode | undefined): ClusterNode {
  if (!node) throw new Error("Cannot find the replica of a primary");
  return node;
}

type SlotEntry = [host: string, port: number, id: string];
type SlotRange = [from: number, to: number, primary: SlotEntry, ...replicas: SlotEntry[]];

interface Shard {
  from: number;
  to: number;
  primary: ClusterNode;
  replicas: ClusterNode[];
}

/** The first nodes are primaries, the next ones follow them in order, and the rest are spares. */
async function join(nodes: ClusterNode[]): Promise<void> {
  const primaries = nodes.slice(0, SHARDS);
  await Promise.all(
    primaries.map(async ({ orders }, i) => {
      // Epochs that differ from the start: else the nodes first have to settle whose word counts.
      await orders.send("CLUSTER", "SET-CONFIG-EPOCH", String(i + 1));
      const from = Math.floor((SLOTS * i) / SHARDS);
      const to = Math.floor((SLOTS * (i + 1)) / SHARDS) - 1;
      await orders.send("CLUSTER", "ADDSLOTSRANGE", String(from), String(to));
    }),
  );
  // Each is told of each: hearsay takes seconds.
  for (const [i, { port, busPort }] of nodes.entries()) {
    const address = ["127.0.0.1", String(port), String(busPort)];
    await Promise.all(nodes.slice(i + 1).map(({ orders }) => orders.send("CLUSTER", "MEET", ...address)));
  }
  await until("the nodes know each other", () => allTell(nodes, `cluster_known_nodes:${nodes.length}\r`));
  for (const [i, { id }] of primaries.entries()) {
    await nodes[SHARDS + i]?.orders.send("CLUSTER", "REPLICATE", id);
  }
  await until("every replica follows its primary", () => areInStep(nodes));
  await until("the cluster serves", () => allTell(nodes, "cluster_state:ok"));
  await until(
    "every node knows who follows whom",
    async () => {
      const seen = await Promise.all(nodes.map(({ orders }) => orders.send("CLUSTER", "SLOTS")));
      return (seen as SlotRange[][]).every(
        (ranges) => ranges.length === SHARDS && ranges.every(([, , , ...replicas]) => replicas.length === 1),
      );
    },
    () => viewsOf(nodes),
  );
}

/** The cluster as each node sees it, and how far it is with following its primary. */
async function viewsOf(nodes: ClusterNode[]): Promise<string> {
  const views = nodes.map(async ({ port, orders }) => {
    const told = [await orders.send("CLUSTER", "NODES"), await orders.send("INFO", "replication")];
    return [`Port ${port}:`, ...told].map(String).join("\n");
  });
  return (await Promise.all(views)).join("\n");
}

/** What the test asked for, now that all is quiet. */
async function settle(nodes: ClusterNode[], options: ClusterOptions): Promise<void> {
  const { elects = false, wholeOnly = false, nodeTimeoutMs = 5_000 } = options;
  const settings = [
    ["cluster-node-timeout", String(nodeTimeoutMs)],
    ["cluster-replica-no-failover", elects ? "no" : "yes"],
    ["cluster-require-full-coverage", wholeOnly ? "yes" : "no"],
  ];
  await Promise.all(nodes.map(({ orders }) => orders.send("CONFIG", "SET", ...settings.flat())));
}
