import { freePort } from "./free-port.ts";
import { openOrders } from "./redis-orders.ts";
import type { Orders } from "./redis-orders.ts";
import { startRedis } from "./redis-server.ts";
import { startSilentProxy } from "./silent-proxy.ts";
import type { SilentProxy } from "./silent-proxy.ts";

/** Where clients find the nodes when proxies stand before them: Linux gives programs the whole of 127.0.0.0/8. */
const CLIENTS_HOST = "127.0.0.2";

/** While nodes join, they are to ask each other often: they do so at least twice in this time. */
const JOIN_TIMEOUT_MS = 400;

/** One server of a Redis Cluster. */
export interface ClusterNode {
  /** In the words of CLUSTER NODES. */
  id: string;
  port: number;
  busPort: number;
  /** Past every proxy. */
  url: string;
  /** Past every proxy; a node that hangs does not answer. */
  orders: Orders;
  /** Between clients and the node; null without proxies. */
  clients: SilentProxy | null;
  /** Between the other nodes and this one: its replica, and keys on their way. The cluster's own bus is not behind it. */
  peers: SilentProxy | null;
  /** False while it hangs or is dead. */
  readonly answers: boolean;
  /** SIGSTOP: its connections stay open, and nothing answers. */
  hang(): void;
  /** SIGCONT. */
  wake(): void;
  /** SIGKILL; its folder stays. */
  kill9(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A node of no cluster yet. */
export async function startClusterNode(options: { proxies: boolean; args: string[] }): Promise<ClusterNode> {
  // The bus is a second port, by default ten thousand above the first: too high for one that is high.
  const [port, busPort] = await Promise.all([freePort(), freePort()]);
  const { clients, peers, announced } = options.proxies ? await proxiesTo(port) : NO_PROXIES;
  const settings = {
    "cluster-enabled": "yes",
    "cluster-port": busPort,
    "cluster-node-timeout": JOIN_TIMEOUT_MS,
    "cluster-replica-no-failover": "yes",
    "cluster-require-full-coverage": "no",
    "cluster-allow-replica-migration": "no",
    // Redis waits five seconds for further replicas, which never come.
    "repl-diskless-sync-delay": 0,
    // A replica counts from the first thing that it was sent on, if it is a ping.
    "repl-ping-replica-period": 1,
    ...announced,
  };
  const named = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = await startRedis({ port, args: [...named, ...options.args] });
  const orders = openOrders(server.url);
  let answers = true;

  return {
    id: String(await orders.send("CLUSTER", "MYID")),
    port,
    busPort,
    url: server.url,
    orders,
    clients,
    peers,
    get answers() {
      return answers;
    },
    hang() {
      answers = false;
      server.pause();
    },
    wake() {
      answers = true;
      server.resume();
    },
    async kill9() {
      answers = false;
      await server.kill9();
    },
    async restart() {
      await server.restart();
      answers = true;
    },
    async stop() {
      orders.close();
      await clients?.close();
      await peers?.close();
      await server.stop();
    },
  };
}

const NO_PROXIES = { clients: null, peers: null, announced: {} };

/** One port, two addresses: the nodes speak to each other at one of them, and send clients to the other one. */
async function proxiesTo(port: number) {
  const peers = await startSilentProxy({ target: port });
  const clients = await startSilentProxy({ host: CLIENTS_HOST, port: peers.port, target: port });
  const announced = {
    "cluster-announce-port": peers.port,
    "cluster-announce-hostname": clients.host,
    "cluster-preferred-endpoint-type": "hostname",
  };
  return { clients, peers, announced };
}
