import type { InstanceMessage } from "../../../src/store.ts";
import type { World } from "../world.ts";
import type { Process } from "./process.ts";

/** Messages between instances: each is lost, late or doubled with some luck, and so they overtake each other. */
export interface Messages {
  post: World["post"];
  join(process: Process, receive: (message: InstanceMessage) => void): void;
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
  const receivers = new Map<string, { process: Process; receive: (message: InstanceMessage) => void }>();
  const { lose, late, doubled } = plan.messages;

  function happens(share: number, fault: string): boolean {
    if (faultsAreOver() || !random.chance(share)) return false;
    count(fault);
    return true;
  }

  return {
    join: (process, receive) => void receivers.set(process.id, { process, receive }),

    post(from, to, message) {
      const receiver = receivers.get(to);
      if (!from.isAlive || !receiver) return;
      const copies = happens(doubled, "messages doubled") ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        const own = structuredClone(message);
        if (happens(lose, "messages lost")) continue;
        const ms = happens(late, "messages late")
          ? random.between(0, LATEST_MS)
          : random.between(...plan.storeLatencyMs);
        time.after(ms, () => receiver.process.deliver(() => receiver.receive(own)));
      }
    },
  };
}
