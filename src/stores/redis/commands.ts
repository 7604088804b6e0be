import { ErrorReply } from "redis";
import { StoreUnavailable } from "../../store.ts";
import type { Reply } from "./connection.ts";
import { createDeadline } from "./deadline.ts";
import { functionCall, library } from "./functions.ts";
import type { FunctionCall } from "./functions.ts";
import type { RedisLink } from "./link.ts";
import type { ArgsOf, KeysOf, StoreFunction, StoreReading } from "./signatures.ts";

/** Commands to Redis, each one round trip, bounded by the store's deadline; they reject with StoreUnavailable in an outage. */
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
  /** A plain command; `key` says where it goes. */
  read(key: string, ...args: string[]): Promise<Reply>;
  /** A plain command that changes something. */
  write(key: string, ...args: string[]): Promise<Reply>;
}

/** Counts and times round trips: the function's or the command's name, and how long it took. */
export type OnCommand = (name: string, ms: number) => void;

export function createCommands(options: {
  link: RedisLink;
  durability: "local" | "replica";
  onCommand?: OnCommand | undefined;
}): RedisCommands {
  const { link, durability, onCommand } = options;
  const deadline = createDeadline();
  const copied = durability === "replica";

  async function run(name: string, key: string, work: () => Promise<Reply>): Promise<Reply> {
    const startedMs = performance.now();
    try {
      return await deadline.bound(work(), () => {
        link.suspect(key, startedMs);
        return new StoreUnavailable(`do ${name}`);
      });
    } catch (error) {
      throw isOutage(error) ? new StoreUnavailable(`do ${name}`, { cause: error }) : error;
    } finally {
      onCommand?.(name, performance.now() - startedMs);
    }
  }

  function invoke(name: string, { key, command }: FunctionCall, mustBeCopied: boolean) {
    const send = () => link.send(key, command, mustBeCopied);
    return run(name, key, () =>
      send().catch(async (error: unknown) => {
        if (!isMissingFunction(error)) throw error;
        await loadFunctions(link);
        return send();
      }),
    );
  }

  return {
    call: (name, keys, args, list) => invoke(name, functionCall(name, keys, args, list), copied),
    ask: (name, keys, args) => invoke(name, functionCall(name, keys, args), false),
    read: (key, ...args) => run(args[0] ?? "", key, () => link.send(key, args, false)),
    write: (key, ...args) => run(args[0] ?? "", key, () => link.send(key, args, copied)),
  };
}

/** To every primary; one that has the library keeps it. */
async function loadFunctions(link: RedisLink): Promise<void> {
  const connections = await link.primaries();
  await Promise.all(
    connections.map(async (connection) => {
      try {
        await connection.sendCommand(["FUNCTION", "LOAD", library]);
      } catch (error) {
        if (!(error instanceof ErrorReply && error.message.includes("already exists"))) throw error;
      }
    }),
  );
}

function isMissingFunction(error: unknown): boolean {
  return error instanceof ErrorReply && error.message.includes("Function not found");
}

/** A server that answers ERR or WRONGTYPE has been asked wrongly: a bug. All else is a server that cannot serve now. */
function isOutage(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return false;
  return !(error instanceof ErrorReply && /^(ERR|WRONGTYPE)\b/.test(error.message));
}
