import { ErrorReply } from "redis";
import { StoreUnavailable } from "../../store.ts";
import type { Reply } from "./connection.ts";
import { createDeadline } from "../deadline.ts";
import { functionCall } from "./functions.ts";
import type { FunctionCall } from "./functions.ts";
import type { RedisLink } from "./link.ts";
import type { ArgsOf, KeysOf, StoreFunction, StoreReading } from "./signatures.ts";

/**
 * Commands to Redis, each one round trip, bounded by the store's deadline; they reject with StoreUnavailable in an outage.
 * With DURABILITY=replica a reading waits for a replica as a change does: it may show a change that was not acknowledged.
 */
export interface RedisCommands {
  /** A function that changes something; all keys in one slot. `list`: what follows the named arguments. */
  call<Name extends StoreFunction>(
    name: Name,
    keys: KeysOf<Name>,
    args: ArgsOf<Name>,
    list?: string[],
  ): Promise<Reply>;
  /** A function that only reads. */
  ask<Name extends StoreReading>(name: Name, keys: KeysOf<Name>, args: ArgsOf<Name>): Promise<Reply>;
  /** A plain command that only reads; `key` says where it goes. */
  read(key: string, ...args: string[]): Promise<Reply>;
  /** The same, where no client is told what comes: it does not wait for a replica. */
  peek(key: string, ...args: string[]): Promise<Reply>;
  /** A plain command that changes something. */
  write(key: string, ...args: string[]): Promise<Reply>;
}

/** Counts and times round trips: the function's or the command's name, and how long it took. */
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

/** A server that answers ERR or WRONGTYPE has been asked wrongly: a bug. All else is a server that cannot serve now. */
function isOutage(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return false;
  return !(error instanceof ErrorReply && /^(ERR|WRONGTYPE)\b/.test(error.message));
}
