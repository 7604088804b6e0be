import type { ThreadState } from "../store/threads.ts";

/** A thread that is not idle is listed by its state: there are few of them, and a million others. */
export const BUSY_STATES: readonly Exclude<ThreadState, "idle">[] = [
  "running",
  "awaiting",
  "waiting_for_person",
  "with_person",
];
