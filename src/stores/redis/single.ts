import { StoreUnavailable } from "../../store.ts";
import { connectionTo, exchange, isSilentSince } from "./connection.ts";
import { createDeadline } from "./deadline.ts";
import { outageNotice } from "./link.ts";
import type { LinkLog, RedisLink } from "./link.ts";

/** The way to one Redis server. Resolves when it is connected; rejects with StoreUnavailable where that takes too long. */
export async function linkToServer(url: string, log: LinkLog): Promise<RedisLink> {
  const notice = outageNotice(log);

  function prepared() {
    const connection = connectionTo(url);
    connection.on("error", (error) => notice.lost(error));
    connection.on("ready", () => notice.back());
    return connection;
  }

  let connection = prepared();
  const subscriber = prepared();
  try {
    const connected = Promise.all([connection.connect(), subscriber.connect()]);
    await createDeadline().bound(connected, () => new StoreUnavailable("connect to Redis"));
  } catch (error) {
    connection.destroy();
    subscriber.destroy();
    throw error;
  }

  return {
    send: (_key, args, copied) => exchange(connection, args, copied),

    suspect(_key, sinceMs) {
      // Reconnecting by itself already, or answering others.
      if (!connection.isReady || !isSilentSince(connection, sinceMs)) return;
      // Traffic keeps a dead connection from timing out: each write counts as a sign of life.
      connection.destroy();
      connection = prepared();
      connection.connect().catch((error: unknown) => notice.lost(error));
    },

    primaries: () => Promise.resolve([connection]),

    subscribe: (name, listener) => subscriber.subscribe(name, listener),

    close() {
      connection.destroy();
      subscriber.destroy();
    },
  };
}
