import { ErrorReply } from "redis";
import type { Store } from "../../src/store.ts";
import { createCommands } from "../../src/stores/redis/commands.ts";
import type { RedisCommands } from "../../src/stores/redis/commands.ts";
import { library } from "../../src/stores/redis/functions.ts";
import type { RedisLink } from "../../src/stores/redis/link.ts";
import { storeOver } from "../../src/stores/redis.ts";
import { stopOrder } from "./guarded-library.ts";

/** A store over a link that does something to what it sends, and the commands beside it. */
export interface StoreOverLink {
  store: Store;
  redis: RedisCommands;
}

export const quiet = { warn() {} };

export async function openOver(link: RedisLink): Promise<StoreOverLink> {
  const store = await storeOver(link, { durability: "local", log: quiet });
  return { store, redis: createCommands({ link, durability: "local" }) };
}

/** The name of the function that a command calls; null where it calls none. */
export function calledBy([verb, versioned = ""]: readonly string[]): string | null {
  return verb === "FCALL" || verb === "FCALL_RO" ? versioned.slice(0, versioned.lastIndexOf("_")) : null;
}

/**
 * Stops calls of functions under guard (guarded-library.ts) and makes each again until it is not stopped. `plan` says
 * before which write a call is stopped: 0 for not at all; it is asked again after each stop. Answers what was stopped.
 */
export function stopping(
  link: RedisLink,
  plan: (name: string, stops: number) => number,
): { link: RedisLink; stopped: string[] } {
  const stopped: string[] = [];
  return {
    stopped,
    link: {
      ...link,
      async send(key, args, copied) {
        const name = calledBy(args);
        if (name === null) return link.send(key, args, copied);
        for (let stops = 0; ; stops++) {
          const beforeWrite = plan(name, stops);
          if (beforeWrite > 0) await link.send(key, stopOrder(library, beforeWrite), false);
          try {
            return await link.send(key, args, copied);
          } catch (error) {
            if (!(error instanceof ErrorReply) || !error.message.includes("STOPPED")) throw error;
            stopped.push(name);
          }
        }
      },
    },
  };
}
