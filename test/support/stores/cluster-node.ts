import { freePort } from "../servers/free-port.ts";
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
  /** Where the others find its part of the bus. */
  busPort: number;
  /** Past every proxy. */
  url: string;
  /** Past every proxy; a node that hangs does not answer. */
  orders: Orders;
  /** Between clients and the node; null without proxies. */
  clients: SilentProxy | null;
  /** Between the other nodes and this one: its replica, and keys on their way. The cluster's own bus is not behind it. */
  peers: SilentProxy | null;
  /** Between the other nodes and this one, on the cluster's own bus; null unless that was asked for. */
  bus: SilentProxy | null;
  /** Where its own connections to other nodes come from, if it has a proxy on the bus: tells it apart at theirs. */
  source: string;
  /** False while it hangs or is dead. */
  readonly answers: boolean;
  /** Its process is there. */
  readonly alive: boolean;
  /** SIGSTOP: its connections stay open, and nothing answers. */
  hang(): void;
  /** SIGCONT. */
  wake(): void;
  /** SIGKILL; its folder stays. */
  kill9(): Promise<void>;
  restart(): Promise<void>;
  /** Resolves when it has ended, by itself too. */
  ended(): Promise<void>;
  /** From now on none of its files grows beyond so many bytes, as on a full disk; null: as far as they like. */
  limitFiles(bytes: number | null): void;
  stop(): Promise<void>;
}

export interface NodeOptions {
  proxies: boolean;
  /** A proxy before its part of the bus, too. */
  busProxy: boolean;
  mayFill: boolean;
  args: string[];
}

/** A node of no cluster yet. */
export async function startClusterNode(options: NodeOptions): Promise<ClusterNode> {
  // The bus is a second port, by default ten thousand above the first: too high for one that is high.
  const [port, busPort] = await Promise.all([freePort(), freePort()]);
  const { clients, peers, announced } = options.proxies ? await proxiesTo(port) : NO_PROXIES;
  const bus = options.busProxy ? await startSilentProxy({ target: busPort }) : null;
  const source = sourceOf(port);
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
    // Told apart by their proxies. Without those, a server in protected mode knows 127.0.0.1 alone.
    ...(bus
      ? {
          "bind-source-addr": source,
          "cluster-announce-ip": "127.0.0.1",
          "cluster-announce-bus-port": bus.port,
        }
      : {}),
    ...announced,
  };
  const named = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = await startRedis({ port, args: [...named, ...options.args], mayFill: options.mayFill });
  const orders = openOrders(server.url);
  let answers = true;

  return {
    id: String(await orders.send("CLUSTER", "MYID")),
    port,
    busPort: bus?.port ?? busPort,
    url: server.url,
    orders,
    clients,
    peers,
    bus,
    source,
    get answers() {
      return answers;
    },
    get alive() {
      return server.alive;
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
    async ended() {
      await server.ended();
      answers = false;
    },
    limitFiles: (bytes) => server.limitFiles(bytes),
    async stop() {
      orders.close();
      await clients?.close();
      await peers?.close();
      await bus?.close();
      await server.stop();
    },
  };
}

/** Its own, somewhere in 127.0.0.0/8. */
function sourceOf(port: number): string {
  return `127.${port >> 8}.${port & 0xff}.1`;
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
