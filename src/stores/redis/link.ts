import type { PlainLog } from "../../log.ts";
import type { Connection, Reply } from "./connection.ts";

/** The way to one Redis server, or to a cluster of them: single.ts and cluster.ts. */
export interface RedisLink {
  /**
   * Sends a command to the server that keeps `key`; with `copied`, resolves when one of its replicas has it too.
   * Rejects at once where there is no connection; never waits for one.
   */
  send(key: string, args: string[], copied: boolean): Promise<Reply>;
  /** A call about `key`, begun then (`performance.now()`), was not answered in time: a connection that is silent since is replaced. */
  suspect(key: string, sinceMs: number): void;
  /** One connection to each primary. */
  primaries(): Promise<Connection[]>;
  /** Over a connection of its own, again after each reconnect. */
  subscribe(name: string, listener: (text: string) => void): Promise<void>;
  close(): void;
}

/** Whom a link tells of its connections. */
export interface LinkLog extends Pick<PlainLog, "warn"> {
  /** One is ready, for the first time or again. */
  connected?(): void;
}

/** Says once that the connection is lost, however often reconnecting fails, and again after it was there. */
export function outageNotice(log: LinkLog): { lost(error: unknown): void; back(): void } {
  let told = false;
  return {
    lost(error) {
      if (told) return;
      told = true;
      const reason = error instanceof Error ? error.message || error.name : String(error);
      log.warn({ reason }, "Cannot reach Redis: reconnecting");
    },
    back() {
      told = false;
      log.connected?.();
    },
  };
}
