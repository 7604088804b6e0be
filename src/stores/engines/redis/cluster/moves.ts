import type { ConnectionOptions } from "../connection.ts";
import { traceKey } from "../library.ts";
import { refusalIn } from "../refusal.ts";
import type { Server } from "../server.ts";
import { hashTagOf } from "./slots.ts";
import { hostOf, portOf, resolved } from "./topology.ts";

/** Slots that move from node to node, key by key: for seconds or minutes, a step's keys may be on two nodes. */
export interface Moves {
  /** Moves all keys of a step to the node that gets their slot. Resolves to its address; null: wait, and ask again. */
  bring(keys: readonly string[], source: { server: Server; address: string }): Promise<string | null>;
}

/** After a failed move to a node, how long to wait for its slots instead. */
const PAUSE_MS = 60_000;

export function createMoves(options: {
  credentials: Pick<ConnectionOptions, "username" | "password">;
  /** null: it cannot be reached. */
  ready: (address: string) => Promise<Server | null>;
  /** Both nodes block during MIGRATE; a target that is silent for this long is given up. */
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
      // The source blocks while it waits for a target that does not answer: so test the target first.
      if (!(await options.ready(there))) return null;
      const to = [hostOf(there), String(portOf(there)), "", "0", String(options.silenceMs)];
      try {
        // REPLACE: keys that an earlier attempt, whose answer was lost, left there are older.
        await server.order("MIGRATE", ...to, "REPLACE", ...auth, "KEYS", ...new Set(keys));
        return there;
      } catch {
        // Not allowed, or the nodes cannot reach each other: the ongoing move of the slot will bring the keys.
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
