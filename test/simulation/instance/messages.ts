import type { World } from "../world.ts";
import type { Process } from "./process.ts";

/** Notices by name, to every process that listens: each is lost, late or doubled with some luck, and so they overtake each other. */
export interface Messages {
  post(from: Process, name: string, text: string): void;
  listen(process: Process, name: string, listener: (text: string) => void): void;
}

const LATEST_MS = 3_000;

export function createMessages({
  time,
  plan,
  randomOf,
  count,
  faultsAreOver,
}: Pick<World, "time" | "plan" | "randomOf" | "count" | "faultsAreOver">): Messages {
  const random = randomOf("messages");
  const listeners = new Map<string, { process: Process; listener: (text: string) => void }[]>();
  const { lose, late, doubled } = plan.messages;

  function happens(share: number, fault: string): boolean {
    if (faultsAreOver() || !random.chance(share)) return false;
    count(fault);
    return true;
  }

  return {
    listen(process, name, listener) {
      listeners.set(name, [...(listeners.get(name) ?? []), { process, listener }]);
    },

    post(from, name, text) {
      if (!from.isAlive) return;
      for (const { process, listener } of listeners.get(name) ?? []) {
        const copies = happens(doubled, "messages doubled") ? 2 : 1;
        for (let copy = 0; copy < copies; copy++) {
          if (happens(lose, "messages lost")) continue;
          const ms = happens(late, "messages late")
            ? random.between(0, LATEST_MS)
            : random.between(...plan.storeLatencyMs);
          time.after(ms, () => process.deliver(() => listener(text)));
        }
      }
    },
  };
}
