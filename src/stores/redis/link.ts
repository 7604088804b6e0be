import type { PlainLog } from "../../log.ts";
import { StoreUnavailable } from "../../store.ts";
import type { Reply } from "./connection.ts";
import type { Server } from "./server.ts";

/** The way to one Redis server, or to a cluster of them: single.ts and cluster.ts. */
export interface RedisLink {
  /**
   * Sends a command to the server that keeps `key`; with `copied`, resolves when one of its replicas has it too, and
   * everything that it shows. Rejects at once where there is no connection; never waits for one.
   */
  send(key: string, args: string[], copied: boolean): Promise<Reply>;
  /** A call about `key`, begun then (`performance.now()`), was not answered in time: a connection that is silent since is replaced. */
  suspect(key: string, sinceMs: number): void;
  shards(): Shard[];
  /** Over a connection of its own, again after each reconnect. */
  subscribe(name: string, listener: (text: string) => void): Promise<void>;
  close(): void;
}

/** A primary, and a key in one of its slots. */
export interface Shard {
  /** The address; empty where there is only one server. */
  address: string;
  key: string;
  server: Server;
}

export interface LinkOptions {
  log: LinkLog;
  /** How long a call may take; the store's deadline. */
  deadlineMs: number;
}

/** Whom a link tells of its connections. */
export interface LinkLog extends Pick<PlainLog, "warn"> {
  /** One is ready, for the first time or again. */
  connected?(): void;
}

interface OutageNotice {
  lost(error: unknown): void;
  back(): void;
  /** What a start fails with that finds no Redis: as the last attempt did. */
  noConnection(): StoreUnavailable;
}

/** Says once that the connection is lost, however often reconnecting fails, and again after it was there. */
export function outageNotice(log: LinkLog): OutageNotice {
  let reason: string | null = null;
  return {
    lost(error) {
      const isNews = reason === null;
      reason = error instanceof Error ? error.message || error.name : String(error);
      if (isNews) log.warn({ reason }, "Cannot reach Redis: reconnecting");
    },
    back() {
      reason = null;
      log.connected?.();
    },
    noConnection() {
      const fact = `${reason ?? "it does not answer"}; REDIS_URL says where it is`;
      return new StoreUnavailable("connect to Redis", { fact });
    },
  };
}
