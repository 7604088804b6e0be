/** What operators keep of a thread for themselves: no visitor, no model and no webhook is told of it. */
export interface Desk {
  /** Counts the changes; 0: nothing was ever kept. */
  rev: number;
  labels: string[];
  /** Out of sight until then, or until the next message; null: in sight. */
  snoozed: { untilMs: number; sinceMs: number } | null;
  /** How many notes there are. */
  notes: number;
}

/** What an operator notes for colleagues. */
export interface Note {
  /** Counts up from 1. */
  id: string;
  /** The operator's name. */
  by: string;
  text: string;
  atMs: number;
}

export const NO_DESK: Desk = { rev: 0, labels: [], snoozed: null, notes: 0 };

/** Of one thread. */
export const MOST_NOTES = 200;

/** Stored as parts (kept-text.ts) of run ids that no run has, so that they are sealed, moved and deleted with the thread's parts. */
export const DESK = "~desk";
export const NOTES = "~notes";

/** Until when the thread is out of sight; null: it is in sight. `lastAtMs`: when its last message came. */
export function snoozedUntil(
  { snoozed }: Desk,
  { nowMs, lastAtMs }: { nowMs: number; lastAtMs: number },
): number | null {
  if (snoozed === null || snoozed.untilMs <= nowMs || lastAtMs > snoozed.sinceMs) return null;
  return snoozed.untilMs;
}
