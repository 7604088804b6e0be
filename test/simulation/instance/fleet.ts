import type { Random } from "../random.ts";
import type { World } from "../world.ts";
import { createInstance } from "./instance.ts";
import type { Instance } from "./instance.ts";
import { createMachine } from "./machine.ts";
import type { Machine } from "./machine.ts";
import { createProcess } from "./process.ts";

/** The machines of the service, and the process that each of them runs at the moment. */
export interface Fleet {
  readonly berths: readonly Berth[];
  /** An instance that takes requests, as a balancer would choose it; now and then one that does not. */
  any(random: Random): Instance | undefined;
  alive(): Instance[];
}

export interface Berth {
  readonly machine: Machine;
  instance: Instance | null;
  /** Starts a new process here. */
  start: () => void;
}

export function createFleet(world: World): Fleet {
  const { plan, time, trace } = world;
  const numbers = { thoughts: 0, calls: 0 };
  const random = world.randomOf("machines");

  function berthOf(name: string): Berth {
    const rate = 1 + random.between(-plan.drift, plan.drift);
    const machine = createMachine(name, time, rate);
    let starts = 0;
    const berth: Berth = {
      machine,
      instance: null,
      start() {
        const process = createProcess(`${name}${++starts}`, machine, time, trace);
        const instance = createInstance(world, { process, numbers });
        berth.instance = instance;
        trace.add(null, `${process.id} starts`);
        void instance.start();
      },
    };
    return berth;
  }

  const berths = Array.from({ length: plan.instances }, (_, nth) => berthOf(String.fromCharCode(65 + nth)));
  const instances = () => berths.flatMap(({ instance }) => (instance ? [instance] : []));

  return {
    berths,
    alive: () => instances().filter(({ process }) => process.isAlive),
    any(choices) {
      const open = instances().filter(({ isOpen }) => isOpen);
      return choices.chance(0.05) ? choices.pickAny(instances()) : choices.pickAny(open);
    },
  };
}
