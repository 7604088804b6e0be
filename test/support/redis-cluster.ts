import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "redis";
import { freePort, startRedis } from "./redis-server.ts";
import type { RedisServer } from "./redis-server.ts";

const SLOTS = 16_384;

/** A real Redis Cluster of three primaries, of a test's own. */
export interface RedisCluster {
  urls: string[];
  nodes: RedisServer[];
  stop(): Promise<void>;
}

/** Joins three servers by CLUSTER commands; resolves when every node calls the cluster's state ok. */
export async function startRedisCluster(options: { args?: string[] } = {}): Promise<RedisCluster> {
  const nodes = await Promise.all([1, 2, 3].map(() => startNode(options.args ?? [])));
  const clients = nodes.map(({ url }) => createClient({ url }));
  await Promise.all(clients.map((client) => client.connect()));
  try {
    const [first] = nodes;
    await Promise.all(
      clients.map(async (client, i) => {
        // Epochs that differ from the start: else the nodes first have to settle whose word counts.
        await client.sendCommand(["CLUSTER", "SET-CONFIG-EPOCH", String(i + 1)]);
        const from = Math.floor((SLOTS * i) / nodes.length);
        const to = Math.floor((SLOTS * (i + 1)) / nodes.length) - 1;
        await client.sendCommand(["CLUSTER", "ADDSLOTSRANGE", String(from), String(to)]);
        if (i > 0) await client.sendCommand(["CLUSTER", "MEET", "127.0.0.1", String(first?.port)]);
      }),
    );
    for (const client of clients) {
      // Each node says so for itself, and knows the others by then.
      while (!(await isWhole(client))) await sleep(50);
    }
  } finally {
    for (const client of clients) client.destroy();
  }
  return {
    urls: nodes.map(({ url }) => url),
    nodes,
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function isWhole(client: { sendCommand(args: string[]): Promise<unknown> }): Promise<boolean> {
  const info = String(await client.sendCommand(["CLUSTER", "INFO"]));
  return info.includes("cluster_state:ok") && info.includes("cluster_size:3");
}

/** The cluster's own bus is a second port, ten thousand above by default: too high for a port that is high already. */
async function startNode(args: string[]): Promise<RedisServer> {
  const bus = await freePort();
  return startRedis({
    args: ["--cluster-enabled", "yes", "--cluster-port", String(bus), "--cluster-node-timeout", "2000", ...args],
  });
}
