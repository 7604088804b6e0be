import type { Clock, Timers } from "../../../src/clock.ts";
import type { Trace } from "../trace.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { Machine } from "./machine.ts";

/**
 * A process of the service, as its machine sees it: everything that reaches it does so through `deliver` or its timers.
 * While it is paused both wait; once it is dead nothing of it runs any more.
 */
export interface Process {
  /** New at each start: `A2` is the second one of A. */
  readonly id: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly isAlive: boolean;
  readonly isPaused: boolean;
  /** Hands over what comes from outside: an answer, a message, a request. */
  deliver(run: () => void): void;
  pause(): void;
  resume(): void;
  die(): void;
  onDeath(callback: () => void): void;
}

export function createProcess(id: string, machine: Machine, time: VirtualTime, trace: Trace): Process {
  let isAlive = true;
  let isPaused = false;
  /** In the order in which they are met on waking: timers that are due come before what the network brought. */
  let dueTimers: (() => void)[] = [];
  let arrived: (() => void)[] = [];
  const mourners: (() => void)[] = [];

  function meet(run: () => void, waiting: () => (() => void)[]): void {
    if (!isAlive) return;
    if (isPaused) waiting().push(run);
    else run();
  }

  return {
    id,
    clock: machine.clock,

    timers: {
      after(ms, run) {
        let isOff = false;
        const ring = () => {
          if (!isOff) run();
        };
        const callOff = time.after(machine.trueMs(ms), () => meet(ring, () => dueTimers));
        return () => {
          isOff = true;
          callOff();
        };
      },
    },

    get isAlive() {
      return isAlive;
    },
    get isPaused() {
      return isPaused;
    },

    deliver: (run) => meet(run, () => arrived),

    pause() {
      if (!isAlive || isPaused) return;
      isPaused = true;
      trace.add(null, `${id} is paused`);
    },

    resume() {
      if (!isPaused) return;
      isPaused = false;
      trace.add(null, `${id} wakes`);
      const waiting = [...dueTimers, ...arrived];
      dueTimers = [];
      arrived = [];
      for (const run of waiting) time.after(0, () => meet(run, () => arrived));
    },

    die() {
      if (!isAlive) return;
      isAlive = false;
      trace.add(null, `${id} dies`);
      for (const mourn of mourners) mourn();
    },

    onDeath: (callback) => void mourners.push(callback),
  };
}
