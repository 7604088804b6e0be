import { ErrorReply } from "redis";
import { StoreUnavailable } from "../../store.ts";
import type { Reply } from "./connection.ts";
import { createDeadline } from "./deadline.ts";
import { library, versioned } from "./functions.ts";
import type { StoreFunction, StoreReading } from "./functions.ts";
import type { RedisLink } from "./link.ts";

/** Commands to Redis, each one round trip, bounded by the store's deadline; they reject with StoreUnavailable in an outage. */
export interface RedisCommands {
  /** A function that changes something; all keys in one slot. */
  call(name: StoreFunction, keys: string[], args: string[]): Promise<Reply>;
  /** A function that only reads. */
  ask(name: StoreReading, keys: string[], args: string[]): Promise<Reply>;
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

  function invoke(
    verb: "FCALL" | "FCALL_RO",
    name: StoreFunction | StoreReading,
    keys: string[],
    args: string[],
  ) {
    const [key = ""] = keys;
    const command = [verb, versioned(name), String(keys.length), ...keys, ...args];
    const send = () => link.send(key, command, copied && verb === "FCALL");
    return run(name, key, () =>
      send().catch(async (error: unknown) => {
        if (!isMissingFunction(error)) throw error;
        await loadFunctions(link);
        return send();
      }),
    );
  }

  return {
    call: (name, keys, args) => invoke("FCALL", name, keys, args),
    ask: (name, keys, args) => invoke("FCALL_RO", name, keys, args),
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
