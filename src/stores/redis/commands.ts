import { ErrorReply } from "redis";
import { StoreUnavailable } from "../../store.ts";
import type { Reply } from "./connection.ts";
import { createDeadline } from "../deadline.ts";
import { functionCall } from "./functions.ts";
import type { FunctionCall } from "./functions.ts";
import type { RedisLink } from "./link.ts";
import type { ArgsOf, KeysOf, StoreFunction, StoreReading } from "./signatures.ts";

/**
 * Commands to Redis, each one round trip, limited by the store's deadline; in an outage they reject with
 * StoreUnavailable. With DURABILITY=replica reads wait for a replica as writes do: they may show a change that was
 * not acknowledged.
 */
export interface RedisCommands {
  /** A function that writes; all keys in one slot. `list`: what follows the named arguments. */
  call<Name extends StoreFunction>(
    name: Name,
    keys: KeysOf<Name>,
    args: ArgsOf<Name>,
    list?: string[],
  ): Promise<Reply>;
  /** A function that only reads. */
  ask<Name extends StoreReading>(name: Name, keys: KeysOf<Name>, args: ArgsOf<Name>): Promise<Reply>;
  /** A plain command that only reads; `key` decides where it goes. */
  read(key: string, ...args: string[]): Promise<Reply>;
  /** The same for replies that no client gets: it does not wait for a replica. */
  peek(key: string, ...args: string[]): Promise<Reply>;
  /** A plain command that writes. */
  write(key: string, ...args: string[]): Promise<Reply>;
}

/** Gets every round trip: the name of the function or command, and its duration. */
export type OnCommand = (name: string, ms: number) => void;

export function createCommands(options: {
  link: RedisLink;
  durability: "local" | "replica";
  deadlineMs?: number | undefined;
  onCommand?: OnCommand | undefined;
}): RedisCommands {
  const { link, durability, deadlineMs, onCommand } = options;
  const deadline = createDeadline(deadlineMs);
  const copied = durability === "replica";

  async function run(name: string, key: string, args: string[], mustBeCopied: boolean): Promise<Reply> {
    const startedMs = performance.now();
    try {
      return await deadline.bound(link.send(key, args, mustBeCopied), () => {
        link.suspect(key, startedMs);
        return new StoreUnavailable(`do ${name}`);
      });
    } catch (error) {
      throw isOutage(error) ? new StoreUnavailable(`do ${name}`, { cause: error }) : error;
    } finally {
      onCommand?.(name, performance.now() - startedMs);
    }
  }

  function invoke(name: string, { key, command }: FunctionCall) {
    return run(name, key, command, copied);
  }

  return {
    call: (name, keys, args, list) => invoke(name, functionCall(name, keys, args, list)),
    ask: (name, keys, args) => invoke(name, functionCall(name, keys, args)),
    read: (key, ...args) => run(args[0] ?? "", key, args, copied),
    peek: (key, ...args) => run(args[0] ?? "", key, args, false),
    write: (key, ...args) => run(args[0] ?? "", key, args, copied),
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
