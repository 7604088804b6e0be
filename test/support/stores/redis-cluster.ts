import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../servers/free-port.ts";
import { redisClient } from "./redis-client.ts";
import { startRedis } from "./redis-server.ts";
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
  // The cluster's own bus is a second port, by default ten thousand above the first: too high for one that is high.
  const buses = await Promise.all([1, 2, 3].map(freePort));
  const nodes = await Promise.all(buses.map((bus) => startNode(bus, options.args ?? [])));
  const clients = nodes.map(({ url }) => redisClient(url));
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
        const address = ["127.0.0.1", String(first?.port), String(buses[0])];
        if (i > 0) await client.sendCommand(["CLUSTER", "MEET", ...address]);
      }),
    );
    await Promise.all(clients.map(untilWhole));
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

type Client = Pick<ReturnType<typeof redisClient>, "sendCommand">;

/** Each node says so for itself, and knows the others by then. */
async function untilWhole(client: Client): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const info = (await client.sendCommand(["CLUSTER", "INFO"])) as unknown as string;
    if (info.includes("cluster_state:ok") && info.includes("cluster_size:3")) return;
    await sleep(50);
  }
  throw new Error("Cannot start a Redis Cluster: its nodes do not find each other");
}

function startNode(bus: number, args: string[]): Promise<RedisServer> {
  const settings = [
    "--cluster-enabled",
    "yes",
    "--cluster-node-timeout",
    "2000",
    "--cluster-port",
    String(bus),
  ];
  return startRedis({ args: [...settings, ...args] });
}
