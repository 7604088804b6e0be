import { setTimeout as pause } from "node:timers/promises";
import type { Fleet } from "./fleet.ts";
import { mustHave } from "./instances.ts";

/** A fault that is done to a fleet, and healed again. Resolves when it is healed. */
export type Nemesis = (fleet: Fleet, random: () => number) => Promise<void>;

/** Longer than the other instances take to think it dead. */
const STOP_MS = 3_500;
const DOWN_MS = 300;

function anyIndex(fleet: Fleet, random: () => number): number {
  return Math.floor(random() * fleet.victims.length);
}

export const nemeses = {
  /** SIGKILL of an instance, which comes back. */
  kill: async (fleet, random) => {
    const index = anyIndex(fleet, random);
    await mustHave(fleet.victims[index]).kill9();
    await pause(DOWN_MS * random());
    await fleet.restart(index);
  },

  /** An instance that is stopped for so long that its runs are taken, and then goes on. */
  stop: async (fleet, random) => {
    const victim = mustHave(fleet.victims[anyIndex(fleet, random)]);
    victim.pause();
    await pause(STOP_MS);
    victim.resume();
  },

  killRedis: async (fleet, random) => {
    await fleet.redis.kill9();
    await pause(DOWN_MS * random());
    await fleet.redis.restart();
  },

  /** Every connection between the instances and Redis is torn. */
  cut: (fleet, random) => {
    fleet.network.cut(random() < 0.5 ? "reset" : "end");
    return Promise.resolve();
  },

  /** Nothing passes for a while that is longer than a call may take. */
  hang: async (fleet) => {
    await fleet.network.bring({ hangs: true });
    await pause(2_500);
    await fleet.network.heal();
  },
} satisfies Record<string, Nemesis>;
