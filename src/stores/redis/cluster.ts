import { setTimeout as sleep } from "node:timers/promises";
import { createCluster, ErrorReply } from "redis";
import { STORE_DEADLINE_MS, StoreUnavailable } from "../../store.ts";
import { connectionOptions, exchange, isSilentSince } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { createDeadline } from "./deadline.ts";
import { outageNotice } from "./link.ts";
import type { LinkLog, RedisLink } from "./link.ts";

/** How long to wait for a slot that is moving from node to node. */
const HALF_MOVED_MS = 50;

/** A primary that is gone this long is looked for anew: its replica may have taken its place. */
const REFRESH_MS = 500;

/** The way to a Redis Cluster, found by any of its nodes. Resolves when it is connected; rejects with StoreUnavailable where that takes too long. */
export async function linkToCluster(urls: string[], log: LinkLog): Promise<RedisLink> {
  const notice = outageNotice(log);
  const seeds = urls.map(connectionOptions);
  const { socket, ...shared } = seeds[0] ?? connectionOptions("");
  const { host: _host, port: _port, ...socketDefaults } = socket;

  function prepared() {
    const made = createCluster({
      RESP: 3,
      rootNodes: seeds,
      defaults: { ...shared, socket: socketDefaults },
      commandOptions: shared.commandOptions,
      topologyRefreshOnReconnectionAttemptStrategy: REFRESH_MS,
    });
    made.on("error", (error) => notice.lost(error));
    made.on("node-error", (error) => notice.lost(error));
    made.on("node-ready", () => notice.back());
    return made;
  }

  let closed = false;
  let cluster = prepared();
  const subscriptions: { name: string; listener: (text: string) => void }[] = [];
  try {
    await createDeadline().bound(cluster.connect(), () => new StoreUnavailable("connect to Redis"));
  } catch (error) {
    cluster.destroy();
    throw error;
  }

  async function nodeOf(key: string): Promise<Connection> {
    if (!cluster.isReady) throw new Error("the cluster is not connected");
    // node-redis types its clients by their options; these are all made of the same ones.
    return (await cluster.getNodeClientForKey(key)) as unknown as Connection;
  }

  /** The slot is on its way to another node, which answers for it when it is asked first. */
  async function sendAsking(address: string, args: string[], copied: boolean) {
    const node = cluster.nodeByAddress.get(address);
    if (!node) throw new Error(`node ${address} is not known yet`);
    const connection = (await cluster.nodeClient(node)) as unknown as Connection;
    const [, reply] = await Promise.all([
      connection.sendCommand(["ASKING"]),
      exchange(connection, args, copied),
    ]);
    return reply;
  }

  async function replace() {
    const silent = cluster;
    cluster = prepared();
    silent.destroy();
    while (!closed && !cluster.isReady) {
      try {
        await cluster.connect();
      } catch (error) {
        notice.lost(error);
        await sleep(REFRESH_MS);
      }
    }
    for (const { name, listener } of subscriptions) await cluster.subscribe(name, listener);
  }

  return {
    async send(key, args, copied) {
      const endMs = performance.now() + STORE_DEADLINE_MS;
      let asked: string | null = null;
      for (;;) {
        try {
          return asked === null
            ? await exchange(await nodeOf(key), args, copied)
            : await sendAsking(asked, args, copied);
        } catch (error) {
          // What is answered so was not done: it may be sent again.
          const [word, , address] = error instanceof ErrorReply ? error.message.split(" ") : [];
          if (performance.now() > endMs) throw error;
          asked = null;
          if (word === "ASK" && address) {
            asked = address;
          } else if (word === "MOVED") {
            // Meets the same answer inside node-redis, which then learns the cluster's slots anew.
            await cluster.sendCommand(key, false, ["EXISTS", key]);
          } else if (word === "TRYAGAIN") {
            // Several keys of a slot that is half here and half there: soon it is whole again.
            await sleep(HALF_MOVED_MS);
          } else {
            throw error;
          }
        }
      }
    },

    suspect(key, sinceMs) {
      if (!cluster.isReady) return;
      const suspected = cluster;
      nodeOf(key)
        .then(async (node) => {
          if (suspected === cluster && node.isReady && isSilentSince(node, sinceMs)) await replace();
        })
        .catch((error: unknown) => notice.lost(error));
    },

    primaries: () =>
      Promise.all(
        cluster.masters.map(async (node) => (await cluster.nodeClient(node)) as unknown as Connection),
      ),

    async subscribe(name, listener) {
      subscriptions.push({ name, listener });
      await cluster.subscribe(name, listener);
    },

    close() {
      closed = true;
      cluster.destroy();
    },
  };
}
