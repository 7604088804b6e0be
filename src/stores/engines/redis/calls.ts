import { ErrorReply } from "redis";
import { StoreUnavailable } from "../../../store.ts";
import { createDeadline } from "../../deadline.ts";
import type { Reply } from "./connection.ts";
import type { RedisLink } from "./link.ts";

/** Gets every round trip: what it was for, and its duration. */
export type OnCommand = (name: string, ms: number) => void;

/**
 * Sends a command, limited by the store's deadline; `key` decides where it goes. With DURABILITY=replica and `durable`
 * its answer waits for a replica: reads wait as writes do, since they may show a change that was not acknowledged. In an
 * outage it rejects with StoreUnavailable.
 */
export type Send = (name: string, key: string, command: string[], durable: boolean) => Promise<Reply>;

export function createSend(options: {
  link: RedisLink;
  durability: "local" | "replica";
  deadlineMs: number;
  onCommand?: OnCommand | undefined;
}): Send {
  const { link, durability, deadlineMs, onCommand } = options;
  const deadline = createDeadline(deadlineMs);
  const copies = durability === "replica";

  // No async function here, nor below: every command passes through, and each would cost it some promises.
  return function send(name, key, command, durable) {
    const startedMs = performance.now();
    const late = () => {
      link.suspect(key, startedMs);
      return new StoreUnavailable(`do ${name}`);
    };
    return deadline.bound(link.send(key, command, copies && durable), late, {
      ended: () => onCommand?.(name, performance.now() - startedMs),
      failed: (error) => (isOutage(error) ? new StoreUnavailable(`do ${name}`, { cause: error }) : error),
    });
  };
}

/**
 * ERR and WRONGTYPE answer a wrong command: a bug. Any other error is a server that cannot serve now; so is a protocol error,
 * which Redis answers to bytes that were damaged or lost on their way, before it closes the connection.
 */
function isOutage(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return false;
  return !(error instanceof ErrorReply && /^(ERR(?! Protocol error)|WRONGTYPE)\b/.test(error.message));
}
