/**
 * What is kept beside a thread's conversation, of which no model is told: what operators keep for themselves, and what the
 * visitor left for them.
 */
export interface Desk {
  /** Counts the changes; 0: nothing was ever kept. */
  rev: number;
  labels: string[];
  /** Out of sight until then, or until the next message; null: in sight. */
  snoozed: { untilMs: number; sinceMs: number } | null;
  /** How many notes there are. */
  notes: number;
  /** Where the visitor can be written to; absent: they left nothing. */
  address?: string;
  /** What the visitor thinks of each hand-off, oldest first, the newest MOST_RATINGS. Absent: nothing was said. */
  ratings?: HandOffRating[];
  /** The newest item of the history that a page has shown; absent: none said so. */
  shownTo?: number;
  /** The item of the history that webhooks were told of as unread last. */
  toldUnread?: number;
}

/** What a visitor thinks of how a person helped. */
export interface HandOffRating {
  /** The epoch at which the hand-off ended. */
  epoch: number;
  /** From 1, bad, to 5, good. */
  score: number;
  comment?: string;
  /** The operator who ended it. */
  by?: string;
  queue?: string;
  atMs: number;
}

export const MOST_RATINGS = 20;

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
export const MOST_LABELS = 20;

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
