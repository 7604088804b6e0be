import { connectionOptions, connectionWith, RECONNECT_MS } from "./connection.ts";
import { createDeadline } from "../deadline.ts";
import { traceKey } from "./keys.ts";
import { outageNotice } from "./link.ts";
import type { LinkOptions, RedisLink } from "./link.ts";
import { isReadOnly } from "./refusal.ts";
import { openServer } from "./server.ts";
import type { How } from "./server.ts";

const trace = traceKey("g");
const HERE: How = { copied: false, traces: [trace], asking: false };
const COPIED: How = { ...HERE, copied: true };

/** The way to one Redis server. Resolves when it is connected; rejects with StoreUnavailable where that takes too long. */
export async function linkToServer(url: string, { log, deadlineMs }: LinkOptions): Promise<RedisLink> {
  const notice = outageNotice(log);
  const connection = connectionOptions(url, deadlineMs);
  const onLost = (error: unknown) => notice.lost(error);
  const onReady = () => notice.back();
  const opened = () => openServer({ connection, deadlineMs, onLost, onReady });

  let server = opened();
  let replacedAtMs = 0;
  const subscriber = connectionWith(connection).on("error", onLost).on("ready", onReady);
  try {
    const connected = Promise.all([server.connected, subscriber.connect()]);
    await createDeadline(deadlineMs).bound(connected, () => notice.noConnection());
  } catch (error) {
    server.close();
    subscriber.destroy();
    throw error;
  }

  function replace(): void {
    server.close();
    server = opened();
    replacedAtMs = performance.now();
  }

  return {
    send(_key, args, copied) {
      const asked = server;
      return asked.exchange(args, copied ? COPIED : HERE).catch((error: unknown) => {
        // A replica by now, behind an address that may lead to the new primary already; not for each call anew.
        const isSettled = performance.now() - replacedAtMs > RECONNECT_MS;
        if (isReadOnly(error) && asked === server && isSettled) replace();
        throw error;
      });
    },

    suspect(_key, sinceMs) {
      // Reconnecting by itself already, or answering others.
      if (!server.isReady || !server.isSilentSince(sinceMs)) return;
      // Traffic keeps a dead connection from timing out: each write counts as a sign of life.
      replace();
    },

    shards: () => [{ address: "", key: trace, server }],

    subscribe: (name, listener) => subscriber.subscribe(name, listener),

    close() {
      server.close();
      subscriber.destroy();
    },
  };
}
