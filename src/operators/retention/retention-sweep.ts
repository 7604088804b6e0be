import type { AgedForgetting } from "../../threads/delete/forgetting.ts";
import { tryEach } from "../../threads/delete/try-each.ts";
import type { Pace } from "../../threads/delete/try-each.ts";
import type { Store } from "../../store.ts";
import type { NoteOnce } from "../noted-once.ts";

export type RetainedKind = "thread" | "user" | "visitor";

/** Told as it happens; `overdueMs`: for how long the thread that rests longest is past its date. */
export interface RetentionProgress {
  deleted(slug: string, kind: RetainedKind): void;
  usersSeen(slug: string, count: number): void;
  overdue(slug: string, overdueMs: number): void;
}

export const noProgress: RetentionProgress = { deleted() {}, usersSeen() {}, overdue() {} };

export type RetentionStore = Pick<
  Store,
  | "dropOldUploads"
  | "restingThreads"
  | "usersPage"
  | "listThreads"
  | "waitingRuns"
  | "hasValidToken"
  | "dropSilentVisitor"
  | "plannedDeletions"
  | "sweepPlace"
  | "setSweepPlace"
  | "appendAudit"
  | "audit"
>;

/** What one sweep of a channel needs. */
export interface Sweep {
  slug: string;
  store: RetentionStore;
  forgets: AgedForgetting;
  note: NoteOnce;
  progress: RetentionProgress;
  pace: Pace;
  isStopped: () => boolean;
  /** Whether the walk over users has tried to get past this place so often that it leaves it to the next walk. */
  isStuck: (place: string) => boolean;
  /** Something is wrong with one thread or user; the sweep goes on with the next. */
  onFailure: (error: unknown) => void;
}

/** Two share one flush to the disk. */
const AT_A_TIME = 2;
const MOST_LATE_IN_A_ROW = 4;

/** Works on each item, and resolves to those that are left for the next time, in their order: late, or not reached. */
export async function sweepEach<Item>(
  { isStopped, onFailure, pace }: Pick<Sweep, "isStopped" | "onFailure" | "pace">,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<Item[]> {
  const tried = await tryEach(items, work, {
    atATime: AT_A_TIME,
    mostLateInARow: MOST_LATE_IN_A_ROW,
    isStopped,
    onFailure,
    rests: pace,
  });
  return items.filter((item) => (tried.get(item) ?? "late") === "late");
}
