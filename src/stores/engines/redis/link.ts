import type { PlainLog } from "../../../log.ts";
import { StoreUnavailable } from "../../../store.ts";
import { lackedCommand } from "./lacked-command.ts";
import type { Reply } from "./connection.ts";
import type { Server } from "./server.ts";

/** The connection to one Redis server, or to a cluster: single.ts and cluster.ts. */
export interface RedisLink {
  /**
   * Sends a command to the server that has `key`. With `copied`, resolves when a replica has it too, and everything
   * that the reply shows. Rejects at once if there is no connection; never waits for one.
   */
  send(key: string, args: string[], copied: boolean): Promise<Reply>;
  /**
   * A call about `key`, begun then (`performance.now()`), was not answered in time: replaces a connection that is
   * silent since.
   */
  suspect(key: string, sinceMs: number): void;
  shards(): Shard[];
  /** Over a separate connection; subscribes again after each reconnect. */
  subscribe(name: string, listener: (text: string) => void): Promise<void>;
  close(): void;
}

/** A primary, and a key in one of its slots. */
export interface Shard {
  /** Empty if there is only one server. */
  address: string;
  key: string;
  server: Server;
}

export interface LinkOptions {
  log: LinkLog;
  /** The limit for a call: the store's deadline. */
  deadlineMs: number;
}

/** Gets a link's log lines and events. */
export interface LinkLog extends Pick<PlainLog, "warn"> {
  /** A connection is ready, for the first time or again. */
  connected?(): void;
}

interface OutageNotice {
  lost(error: unknown): void;
  back(): void;
  /** The error of a start that finds no Redis, with the reason of the last attempt. */
  noConnection(): StoreUnavailable;
}

/** Logs a lost connection once, however often reconnecting fails; and again only after it was back. */
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
      const lacked = reason === null ? null : lackedCommand(reason);
      const fact = lacked ?? `${reason ?? "it does not answer"}; REDIS_URL says where it is`;
      return new StoreUnavailable("connect to Redis", { fact });
    },
  };
}
