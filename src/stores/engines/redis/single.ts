import { linkToCluster } from "./cluster.ts";
import { connectionOptions, connectionWith, RECONNECT_MS } from "./connection.ts";
import { createDeadline } from "../../deadline.ts";
import { traceKey } from "./library.ts";
import { outageNotice } from "./link.ts";
import type { LinkOptions, RedisLink } from "./link.ts";
import { isReadOnly, refusalIn } from "./refusal.ts";
import { openServer } from "./server.ts";
import type { How, Server } from "./server.ts";

const trace = traceKey("g");
const HERE: How = { copied: false, traces: [trace], asking: false };
const COPIED: How = { ...HERE, copied: true };

/** Slots to test: enough to find one of another node, however few that has. */
const PROBES = 256;

const ONE_SEED =
  "REDIS_URL names one node of a Redis Cluster, and the others are found through it: while it is away, nothing can start. Name several, separated by commas";

/** True if other nodes have some of the slots: their keys would be refused while this server seems healthy. */
async function isOneOfSeveral(server: Server): Promise<boolean> {
  const asked = Array.from({ length: PROBES }, (_, nth) => server.order("EXISTS", traceKey(`t:${nth}`)));
  const answers = await Promise.allSettled(asked);
  return answers.some((answer) => answer.status === "rejected" && refusalIn(answer.reason)?.type === "moved");
}

/**
 * The link to one Redis server, or to the cluster of which it is a node. Resolves when it is connected; rejects with
 * StoreUnavailable if that takes too long.
 */
export async function linkToServer(url: string, { log, deadlineMs }: LinkOptions): Promise<RedisLink> {
  const notice = outageNotice(log);
  const connection = connectionOptions(url, deadlineMs);
  const onLost = (error: unknown) => notice.lost(error);
  const onReady = () => notice.back();
  let server = opened();
  let replacedAtMs = 0;
  const subscriber = connectionWith(connection).on("error", onLost).on("ready", onReady);
  try {
    const connected = Promise.all([server.connected, subscriber.connect()]);
    const deadline = createDeadline(deadlineMs);
    await deadline.bound(connected, () => notice.noConnection());
    const isOne = await deadline.bound(isOneOfSeveral(server), () => notice.noConnection());
    if (isOne) {
      close();
      log.warn({}, ONE_SEED);
      return await linkToCluster([url], { log, deadlineMs });
    }
  } catch (error) {
    close();
    throw error;
  }

  function close(): void {
    server.close();
    subscriber.destroy();
  }

  function opened(): Server {
    const asked = openServer({
      connection,
      deadlineMs,
      onLost,
      onReady,
      onRefused(error) {
        // The server is a replica now, and its address may lead to the new primary already. Not replaced again for
        // each call.
        const isSettled = performance.now() - replacedAtMs > RECONNECT_MS;
        if (isReadOnly(error) && asked === server && isSettled) replace();
      },
    });
    return asked;
  }

  function replace(): void {
    server.close();
    server = opened();
    replacedAtMs = performance.now();
  }

  return {
    send: (_key, args, copied) => server.exchange(args, copied ? COPIED : HERE),

    suspect(_key, sinceMs) {
      // It is reconnecting by itself, or has answered other calls.
      if (!server.isReady || !server.isSilentSince(sinceMs)) return;
      // Traffic keeps a dead connection from timing out: each write counts as a sign of life.
      replace();
    },

    shards: () => [{ address: "", key: trace, server }],

    subscribe: (name, listener) => subscriber.subscribe(name, listener),

    close,
  };
}
