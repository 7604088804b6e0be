import type { NewerRecord, UnreadableRecord } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";

/** Threads that this process can do nothing about; each is skipped for a while, or the sweep would find no others. */
export interface LeftAlone {
  has(uid: string): boolean;
  /** `reason` is logged once; null: nothing to log. */
  add(uid: string, reason: UnreadableRecord | NewerRecord | null): void;
  all(): ReadonlySet<string>;
}

const LEAVE_MS = 10_000;
/** Shorter without a fault: the thread may be ready at the next look. */
const LEAVE_UNTOLD_MS = 2_000;

export function createLeftAlone({ clock, log }: Pick<ThreadDependencies, "clock" | "log">): LeftAlone {
  const untilMs = new Map<string, number>();
  const told = new Set<string>();

  function forgetPast(): void {
    const now = clock.elapsed();
    for (const [uid, until] of untilMs) if (until <= now) untilMs.delete(uid);
  }

  return {
    has: (uid) => (untilMs.get(uid) ?? -Infinity) > clock.elapsed(),

    add(uid, reason) {
      untilMs.set(uid, clock.elapsed() + (reason === null ? LEAVE_UNTOLD_MS : LEAVE_MS));
      if (reason === null || told.has(uid)) return;
      // Better logged twice than remembered for ever.
      if (told.size >= MOST_TOLD) told.clear();
      told.add(uid);
      log.warn({ uid, reason: reason.message }, "left a thread alone");
    },

    all() {
      forgetPast();
      return new Set(untilMs.keys());
    },
  };
}

const MOST_TOLD = 10_000;
