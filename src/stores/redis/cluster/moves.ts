import type { ConnectionOptions } from "../connection.ts";
import { traceKey } from "../keys.ts";
import { refusalIn } from "../refusal.ts";
import type { Server } from "../server.ts";
import { hashTagOf } from "./slots.ts";
import { hostOf, portOf, resolved } from "./topology.ts";

/** Slots that move from node to node, key by key: seconds or minutes in which some of a step's keys are here, some there. */
export interface Moves {
  /** Brings all keys of one step to where their slot is going. Its address; null: wait, and ask again. */
  bring(keys: readonly string[], source: { server: Server; address: string }): Promise<string | null>;
}

/** How long whoever could not bring keys to a node waits for its slots instead. */
const PAUSE_MS = 60_000;

export function createMoves(options: {
  credentials: Pick<ConnectionOptions, "username" | "password">;
  /** null: it cannot be reached. */
  ready: (address: string) => Promise<Server | null>;
  /** Both nodes stand still while MIGRATE works; a target that says nothing for this long is given up. */
  silenceMs: number;
}): Moves {
  const { username, password = "" } = options.credentials;
  const auth = username ? ["AUTH2", username, password] : password ? ["AUTH", password] : [];
  const pausedUntilMs = new Map<string, number>();

  return {
    async bring(keys, { server, address }) {
      const target = await targetOf(server, keys[0] ?? "");
      if (target === null) return null;
      const there = resolved(target, address);
      if ((pausedUntilMs.get(there) ?? 0) > performance.now()) return null;
      // The source stands still while it waits for a target that does not answer: ask here first.
      if (!(await options.ready(there))) return null;
      const to = [hostOf(there), String(portOf(there)), "", "0", String(options.silenceMs)];
      try {
        // REPLACE: what an attempt left there whose answer was lost is older.
        await server.order("MIGRATE", ...to, "REPLACE", ...auth, "KEYS", ...new Set(keys));
        return there;
      } catch {
        // Not allowed, or the nodes do not reach each other: what moves the slot will do it.
        pausedUntilMs.set(there, performance.now() + PAUSE_MS);
        return null;
      }
    },
  };
}

/** A node names the target of a slot when it is asked for a key that it does not have. */
async function targetOf(source: Server, key: string): Promise<string | null> {
  try {
    await source.order("EXISTS", traceKey(hashTagOf(key)));
    return null;
  } catch (error) {
    const refusal = refusalIn(error);
    if (!refusal) throw error;
    return refusal.type === "ask" ? refusal.address : null;
  }
}
