import type { Bounds } from "./state.ts";

/** The protocol's variants: what a store compares and keeps, and what a process looks after. */
export interface Rules {
  /**
   * A process is forgotten once it is barred: from then on it claims nothing on a beat before the look that found it
   * silent.
   */
  bars: boolean;
  /**
   * Each slot of threads lists the processes that may hold something there. Whoever is on a list and has no heartbeat
   * entry gets one, and is then found silent like everybody else. A process is forgotten once it is off the lists.
   */
  lists: boolean;
  /** Whoever waits for a held thread gives its holder a heartbeat entry where it has none. */
  watches: boolean;
  /** A claim names the operation that it read as the thread's last one, besides the revision. */
  comparesLastOp: boolean;
  /** Planted ones. */
  mistakes: readonly Mistake[];
}

export type Mistake =
  | "forgets without a bar"
  | "forgets without a look at what is owned"
  | "forgets whoever has beaten since"
  | "does not look for what it has lost"
  | "does not compare the operation id"
  | "does not compare the fence"
  | "does not compare the revision"
  | "does not compare takesFrom"
  | "a release forgets the queue"
  | "a claim does not list its owner"
  | "strikes owners off the list";

/** Without lists: a process that is forgotten is barred first. Not enough where a slot fails over. */
export const today: Rules = {
  bars: true,
  lists: false,
  watches: false,
  comparesLastOp: false,
  mistakes: [],
};

/** An unknown holder is a dead one. */
export const mended: Rules = { ...today, bars: false, lists: true, comparesLastOp: true };

export interface World {
  bounds: Bounds;
  rules: Rules;
}
