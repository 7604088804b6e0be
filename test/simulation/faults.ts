import type { Berth, Fleet } from "./instance/fleet.ts";
import type { Happening } from "./happening.ts";
import { FAULTS } from "./plan.ts";
import type { FaultName } from "./plan.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** What goes wrong by itself, each kind at its own times; and the end of it all. */
export interface Faults {
  start: () => void;
  /** Now and then who deletes something dies in the midst of it. */
  see: (happening: Happening) => void;
  /** Everything runs, is in reach and goes right again. */
  stop: () => void;
}

const GRACES_MS = [0, 300, 4_000] as const;

export function createFaults(world: World, fleet: Fleet): Faults {
  const { time, plan, cluster, count, faultsAreOver } = world;
  const ofDeletions = world.randomOf("fault at a deletion");

  function repeat(name: FaultName, meanMs: number, happen: (random: Random) => void): void {
    const random = world.randomOf(`fault ${name}`);
    const next = () =>
      time.after(-Math.log(1 - random.next()) * meanMs, () => {
        if (faultsAreOver()) return;
        count(name);
        happen(random);
        next();
      });
    next();
  }

  /** A machine whose process lives. */
  function anyBerth(random: Random): Berth | undefined {
    return random.pickAny(fleet.berths.filter(({ instance }) => instance?.process.isAlive));
  }

  function startLater({ instance, start }: Berth, random: Random): void {
    const dead = instance;
    time.after(random.pick([100, 1_000, 5_000, 30_000]) * random.next(), () => {
      if (dead && !dead.process.isAlive && !faultsAreOver()) start();
    });
  }

  function kill(berth: Berth | undefined, random: Random): void {
    berth?.instance?.process.die();
    if (berth) startLater(berth, random);
  }

  function pause(berth: Berth | undefined, random: Random): void {
    const process = berth?.instance?.process;
    process?.pause();
    time.after(random.pick([100, 1_000, 3_000, 10_000]) * random.next(), () => process?.resume());
  }

  function atCall(random: Random, happen: (berth: Berth, random: Random) => void): void {
    const berth = anyBerth(random);
    const process = berth?.instance?.process;
    berth?.instance?.trap.set({
      moment: random.pick(["sent", "done", "answered"]),
      nthWrite: random.whole(1, 20),
      spring() {
        if (process?.isAlive && !faultsAreOver()) happen(berth, random);
      },
    });
  }

  /** Its next writes are the other steps of the deletion, if it does nothing else meanwhile. */
  function interrupt(by: string): void {
    if (faultsAreOver() || !ofDeletions.chance(plan.deletions.interrupted)) return;
    const berth = fleet.berths.find(({ instance }) => instance?.process.id === by);
    const process = berth?.instance?.process;
    if (!berth || !process) return;
    berth.instance?.trap.set({
      moment: ofDeletions.pick(["sent", "done", "answered"]),
      nthWrite: ofDeletions.whole(1, 3),
      spring() {
        if (!process.isAlive || faultsAreOver()) return;
        count("death at a deletion");
        kill(berth, ofDeletions);
      },
    });
  }

  async function restart(random: Random): Promise<void> {
    const berth = anyBerth(random);
    const instance = berth?.instance;
    if (!berth || !instance?.isOpen) return;
    await instance.stop(random.pick(GRACES_MS));
    if (faultsAreOver()) berth.start();
    else startLater(berth, random);
  }

  function setDown(random: Random): void {
    const node = random.pick([...cluster.nodes]);
    node.isDown = true;
    time.after(random.between(100, 5_000), () => (node.isDown = false));
  }

  function failOver(random: Random, stragglers: ReadonlySet<string>): void {
    const node = random.pick([...cluster.nodes]);
    void node.failOver(stragglers);
    node.isDown = true;
    time.after(random.between(0, 2_500), () => (node.isDown = false));
    if (stragglers.size > 0) time.after(random.between(100, 5_000), () => node.endStraggling());
  }

  function hangReplica(random: Random): void {
    const node = random.pick([...cluster.nodes]);
    node.setLink(false);
    time.after(random.between(100, 6_000), () => node.setLink(true));
  }

  function readStale(random: Random): void {
    const node = random.pick([...cluster.nodes]);
    void node.readStale(someProcesses(random));
    time.after(random.between(100, 4_000), () => node.endStale());
  }

  function someProcesses(random: Random): ReadonlySet<string> {
    const ids = fleet.alive().map(({ process }) => process.id);
    return new Set(ids.filter(() => random.chance(0.5)));
  }

  function jump(random: Random): void {
    const ms = random.between(-8_000, 8_000);
    if (random.chance(0.2)) cluster.jump(ms / 4);
    else random.pickAny(fleet.berths)?.machine.jump(ms);
  }

  const happen: Record<FaultName, (random: Random) => void> = {
    death: (random) => kill(anyBerth(random), random),
    "death at a call": (random) => atCall(random, kill),
    pause: (random) => pause(anyBerth(random), random),
    "pause at a call": (random) => atCall(random, pause),
    restart: (random) => void restart(random),
    "node down": setDown,
    failover: (random) => failOver(random, new Set()),
    "replica hangs": hangReplica,
    stragglers: (random) => failOver(random, someProcesses(random)),
    "stale reads": readStale,
    "clock jumps": jump,
  };

  return {
    start() {
      for (const name of FAULTS) {
        const meanMs = plan.every[name];
        if (meanMs !== null) repeat(name, meanMs, happen[name]);
      }
    },

    see(happening) {
      const isStep = happening.type === "erased" || happening.type === "deletion";
      if (isStep) interrupt(happening.by);
    },

    stop() {
      for (const node of cluster.nodes) {
        node.isDown = false;
        node.setLink(true);
        node.endStraggling();
        node.endStale();
      }
      cluster.setClockRight();
      for (const { machine, instance, start } of fleet.berths) {
        machine.setRight();
        instance?.process.resume();
        if (!instance?.process.isAlive) start();
      }
    },
  };
}
