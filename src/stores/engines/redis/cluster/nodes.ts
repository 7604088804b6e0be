import { setTimeout as sleep } from "node:timers/promises";
import type { ConnectionOptions } from "../connection.ts";
import { openServer } from "../server.ts";
import type { Server } from "../server.ts";

/** The nodes of a cluster, each with a connection of its own, so that the failure of one does not affect the others. */
export interface Nodes {
  /** Connects if it is not connected yet, and keeps reconnecting for as long as the node is kept. */
  at(address: string): Server;
  /** The node once it is connected; null if it is not by then (`performance.now()`). */
  readyAt(address: string, untilMs: number): Promise<Server | null>;
  /** Opens a new connection in place of a silent one: traffic keeps a dead one from timing out. */
  replace(address: string): void;
  /** Connects to these, and closes the others that were not used for a while. */
  keep(addresses: readonly string[]): void;
  close(): void;
}

/** A slot's new node is asked for a while before it is listed as having slots. */
const UNUSED_MS = 10_000;
const LOOK_MS = 10;

export function createNodes(options: {
  optionsAt: (address: string) => ConnectionOptions;
  deadlineMs: number;
  onLost: (error: unknown) => void;
  onReady: () => void;
}): Nodes {
  const { optionsAt, ...rest } = options;
  const open = new Map<string, { server: Server; usedAtMs: number }>();

  function at(address: string): Server {
    const usedAtMs = performance.now();
    const found = open.get(address);
    if (found) {
      found.usedAtMs = usedAtMs;
      return found.server;
    }
    const server = openServer({ connection: optionsAt(address), ...rest });
    open.set(address, { server, usedAtMs });
    return server;
  }

  function leave(address: string): void {
    open.get(address)?.server.close();
    open.delete(address);
  }

  return {
    at,

    async readyAt(address, untilMs) {
      for (;;) {
        const server = at(address);
        if (server.isReady) return server;
        if (performance.now() > untilMs) return null;
        await sleep(LOOK_MS);
      }
    },

    replace(address) {
      leave(address);
      at(address);
    },

    keep(addresses) {
      for (const address of addresses) at(address);
      const unusedSinceMs = performance.now() - UNUSED_MS;
      for (const [address, { usedAtMs }] of open) if (usedAtMs < unusedSinceMs) leave(address);
    },

    close() {
      for (const address of open.keys()) leave(address);
    },
  };
}
