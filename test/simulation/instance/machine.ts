import type { Clock } from "../../../src/clock.ts";
import type { VirtualTime } from "../virtual-time.ts";

/** A machine's clocks. They outlive the processes that run on it. */
export interface Machine {
  readonly name: string;
  readonly clock: Clock;
  /** How long a timer of this machine really takes. */
  trueMs(ms: number): number;
  /** Sets the wall clock forward, or back; the monotonic one does not jump. */
  jump(ms: number): void;
  /** Sets the wall clock right. */
  setRight(): void;
}

/** A Tuesday in 2026. */
export const EPOCH_MS = Date.UTC(2026, 10, 24, 9);

/** `rate`: 1.02 runs fast by two percent. */
export function createMachine(name: string, time: VirtualTime, rate: number): Machine {
  let offsetMs = 0;
  const elapsed = () => time.nowMs * rate;
  return {
    name,
    clock: { elapsed, now: () => Math.floor(EPOCH_MS + elapsed() + offsetMs) },
    trueMs: (ms) => ms / rate,
    jump: (ms) => void (offsetMs += ms),
    setRight: () => void (offsetMs = time.nowMs - elapsed()),
  };
}
