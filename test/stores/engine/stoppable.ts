import type { Engine, Step } from "../../../src/stores/engine.ts";
import { createMemoryEngine, Stopped } from "./memory-engine.ts";

/** An engine that a test may stop. */
export interface StoppableEngine {
  engine: Engine;
  /** The next step that has so many writes is stopped before its write number `nth`, from 0. */
  stopBefore: (nth: number) => Promise<void>;
  /** Forgets a stop that no step has met. */
  goOn: () => Promise<void>;
  /** Is this error the stop? */
  isStop: (error: unknown) => boolean;
}

export function stoppableMemory(): StoppableEngine {
  const engine = createMemoryEngine();
  return {
    engine,
    stopBefore: async (nth) => engine.stopBefore(nth),
    goOn: async () => engine.stopBefore(Infinity),
    isStop: (error) => error instanceof Stopped,
  };
}

/** An engine on which calls of the store are made. */
export interface StoppingEngine {
  engine: Engine;
  /** From now on, of all writes of all steps in such slots that are made, the engine stops before number `nth`, once. */
  stopBefore: (nth: number) => void;
  wasStopped: () => boolean;
}

/** Counts the writes of many steps, one after the other: Redis itself knows only those of one. */
export function stopping(stoppable: StoppableEngine, isStopped: (slot: string) => boolean): StoppingEngine {
  const { engine } = stoppable;
  let left = Infinity;
  let stopped = false;
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  }

  async function apply(step: Step): Promise<{ type: string }> {
    const { writes, after = [] } = step;
    if (!isStopped(step.slot) || left === Infinity) return engine.apply(step);
    if (left < writes.length + after.length) await stoppable.stopBefore(left);
    try {
      const applied = await engine.apply(step);
      if (applied.type !== "failed") left -= after.length;
      if (applied.type === "done") left -= writes.length;
      return applied;
    } catch (error) {
      if (stoppable.isStop(error)) [left, stopped] = [Infinity, true];
      throw error;
    } finally {
      await stoppable.goOn();
    }
  }

  return {
    engine: {
      ...engine,
      read: (reads, how) => inTurn(() => engine.read(reads, how)),
      apply: ((step: Step) => inTurn(() => apply(step))) as Engine["apply"],
      close: async () => {},
    },
    stopBefore: (nth) => ([left, stopped] = [nth, false]),
    wasStopped: () => stopped,
  };
}
