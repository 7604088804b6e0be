import { onTestFinished } from "vitest";
import { openOrders } from "../support/stores/redis-orders.ts";
import type { Orders } from "../support/stores/redis-orders.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import type { RedisServer } from "../support/stores/redis-server.ts";
import { startSilentProxy } from "../support/stores/silent-proxy.ts";
import type { SilentProxy } from "../support/stores/silent-proxy.ts";
import { until } from "../support/until.ts";

/** Two servers without a cluster, gone with the test. */
export interface Pair {
  primary: Server;
  replica: Server;
  /** Between the replica and its primary. */
  link: SilentProxy;
  /** An address that follows the primary: new connections go where it leads, old ones stay where they are. */
  address: SilentProxy;
  url: string;
}

interface Server {
  server: RedisServer;
  orders: Orders;
}

/** Resolves when the replica follows. */
export async function pairForTest(): Promise<Pair> {
  const primary = await serverForTest();
  const { port } = primary.server;
  const [link, address] = await Promise.all([
    startSilentProxy({ target: port }),
    startSilentProxy({ target: port }),
  ]);
  onTestFinished(async () => {
    await link.close();
    await address.close();
  });
  const replica = await serverForTest("--replicaof", "127.0.0.1", String(link.port));
  await until("the replica follows", async () => (await replicationOf(primary)).includes("state=online"));
  return { primary, replica, link, address, url: `redis://127.0.0.1:${address.port}` };
}

async function serverForTest(...args: string[]): Promise<Server> {
  const server = await startRedis({ args: ["--repl-diskless-sync-delay", "0", ...args] });
  const orders = openOrders(server.url);
  onTestFinished(async () => {
    orders.close();
    await server.stop();
  });
  return { server, orders };
}

async function replicationOf({ orders }: Server): Promise<string> {
  return String(await orders.send("INFO", "replication"));
}

/** The replica has all that was written. */
export async function untilInStep({ primary, replica }: Pair): Promise<void> {
  const offset = async (server: Server) => /master_repl_offset:(\d+)/.exec(await replicationOf(server))?.[1];
  await until("the replica has everything", async () => (await offset(primary)) === (await offset(replica)));
}

/** As an operator does it, or a Sentinel: nobody's connection is closed. */
export async function swapRoles({ primary, replica }: Pair): Promise<void> {
  await replica.orders.send("REPLICAOF", "NO", "ONE");
  await primary.orders.send("REPLICAOF", "127.0.0.1", String(replica.server.port));
}

/** The primary is lost, and with it what was on its way to the replica, which takes its place. */
export async function failOver({ primary, replica, link, address }: Pair): Promise<void> {
  link.lose();
  address.lead(replica.server.port);
  await primary.server.kill9();
  await replica.orders.send("REPLICAOF", "NO", "ONE");
}
