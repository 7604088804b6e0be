import type { Clock } from "../../clock.ts";
import type { Engine } from "../engine.ts";
import type { OutsideFiles } from "../files/outside-files.ts";
import type { Codec } from "../sealing.ts";

/** What the steps of a store stand on. */
export interface StepsContext {
  engine: Engine;
  /** This process, in fences and messages. */
  processId: string;
  clock: Clock;
  /** Reads and writes what threads contain. */
  codec: Codec;
  /** Where the bytes of files are; absent, null: in the store. */
  outside?: OutsideFiles | null;
}

/** Unix ms: the database's time, or this machine's until that is known. */
export function nowMs({ engine, clock }: Pick<StepsContext, "engine" | "clock">): number {
  return engine.timeMs() ?? clock.now();
}
