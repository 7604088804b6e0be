import type { ThreadState } from "../store/threads.ts";

/** Threads in these states are listed by state: there are few of them, beside a million idle ones. */
export const BUSY_STATES: readonly Exclude<ThreadState, "idle">[] = [
  "running",
  "awaiting",
  "waiting_for_person",
  "with_person",
];

/** Nobody holds the thread, and what it waits for may have a deadline. */
export function waitsAlone(state: string | null): boolean {
  return state === "awaiting" || state === "waiting_for_person" || state === "with_person";
}
