import { STORE_DEADLINE_MS, StoreUnavailable } from "../../../src/store.ts";
import type { Process } from "../instance/process.ts";
import type { Trap } from "../instance/trap.ts";
import type { Engine } from "../../../src/stores/engine.ts";
import type { World } from "../world.ts";
import type { StoreNode, Where } from "./node.ts";

/**
 * Store calls of one process, over a network that delays, loses and repeats them: what gets no answer within the deadline
 * is StoreUnavailable, whether it took effect or not.
 */
export type Call = <Result>(node: StoreNode, call: StoreCall<Result>) => Promise<Result>;

export interface StoreCall<Result> {
  /** As in StoreUnavailable. */
  action: string;
  isWrite: boolean;
  isDurable: boolean;
  step: (data: Engine) => Promise<Result>;
  /** The step was done; called again where the call is repeated. */
  done?: (result: Result, where: Where) => void;
}

/** A late request arrives at most so long after it was sent: after its sender gave up. */
const LATEST_MS = 6_000;

export function createCalls(world: World, process: Process, trap: Trap): Call {
  const { time, plan, randomOf, count } = world;
  const random = randomOf(`store calls of ${process.id}`);
  const latencyMs = () => random.between(...plan.storeLatencyMs);
  const { loseRequest, loseAnswer, late, doubled } = plan.calls;

  function happens(share: number, fault: string): boolean {
    if (world.faultsAreOver() || !random.chance(share)) return false;
    count(fault);
    return true;
  }

  return <Result>(node: StoreNode, { action, isWrite, isDurable, step, done }: StoreCall<Result>) => {
    return new Promise<Result>((resolve, reject) => {
      if (!process.isAlive) return;
      const isRefused = node.isDown && random.chance(0.5);
      const giveUp = () => reject(new StoreUnavailable(action));
      if (isRefused) {
        time.after(latencyMs(), () => process.deliver(giveUp));
        return;
      }
      let isAnswered = false;
      let attempts = 0;
      const callOff = process.timers.after(STORE_DEADLINE_MS, giveUp);

      /** Who sends a call again waits for the new one's answer alone. */
      function answer(attempt: number, result: Result): void {
        if (attempt < attempts || happens(loseAnswer, "answers of the store lost")) return;
        time.after(latencyMs(), () => {
          trap.met("answered", isWrite);
          process.deliver(() => {
            if (attempt < attempts) return;
            isAnswered = true;
            callOff();
            resolve(result);
          });
        });
      }

      function arrive(): void {
        const attempt = ++attempts;
        node.serve<Result>({
          from: process.id,
          isWrite,
          isDurable,
          step,
          done(result, where) {
            done?.(result, where);
            trap.met("done", isWrite);
          },
          answer: (result) => answer(attempt, result),
        });
      }

      const sendMs = happens(late, "calls of the store late")
        ? random.between(1_000, LATEST_MS)
        : latencyMs();
      if (!happens(loseRequest, "calls of the store lost")) time.after(sendMs, arrive);
      if (happens(doubled, "calls of the store doubled")) {
        // Whoever has the answer sends nothing again.
        time.after(sendMs + random.between(0, LATEST_MS / 2), () => {
          if (!isAnswered) arrive();
        });
      }
      trap.met("sent", isWrite);
    });
  };
}
