import { setTimeout as sleep } from "node:timers/promises";
import { connectionWith } from "../connection.ts";
import type { Connection, ConnectionOptions } from "../connection.ts";

/** A connection for messages only. Every node of a cluster gets all messages: if one fails, another one is chosen. */
export interface Subscriber {
  /** Resolves when the current connection has subscribed. */
  subscribe(name: string, listener: (text: string) => void): Promise<void>;
  close(): void;
}

const AGAIN_MS = 100;

/** `choose` returns a node that answers; null if there is none. */
export function createSubscriber(choose: () => ConnectionOptions | null): Subscriber {
  const subscriptions: { name: string; listener: (text: string) => void }[] = [];
  const waiting = new Set<(connection: Connection) => void>();
  let connection: Connection | null = null;
  let closed = false;

  /** Returns when the connection is lost. */
  async function stay(options: ConnectionOptions): Promise<void> {
    const next = connectionWith(options);
    const lost = new Promise<"lost">((resolve) => next.on("error", () => resolve("lost")));
    connection = next;
    try {
      if ((await Promise.race([lost, next.connect()])) === "lost" || closed) return;
      for (const { name, listener } of subscriptions) await next.subscribe(name, listener);
      for (const resolve of waiting) resolve(next);
      waiting.clear();
      await lost;
    } catch {
      // Lost as well: another node is next.
    } finally {
      connection = null;
      next.destroy();
    }
  }

  async function stayUntilClosed(): Promise<void> {
    while (!closed) {
      const options = choose();
      if (options) await stay(options);
      await sleep(AGAIN_MS);
    }
  }

  void stayUntilClosed();

  return {
    async subscribe(name, listener) {
      subscriptions.push({ name, listener });
      try {
        if (connection?.isReady) return await connection.subscribe(name, listener);
      } catch {
        // Lost just now: the next connection subscribes.
      }
      await new Promise((resolve) => waiting.add(resolve));
    },

    close() {
      closed = true;
      connection?.destroy();
    },
  };
}
