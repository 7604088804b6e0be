import type { Timers } from "../../../clock.ts";
import { CHANGES_KEPT_MS } from "../../../store/channel-threads.ts";
import type { ThreadCommit, ThreadState } from "../../../store/threads.ts";
import { answererSince } from "../../answerer-since.ts";
import { slotOf } from "../../engine.ts";
import type { Engine, Write } from "../../engine.ts";
import { tables } from "../../tables.ts";
import { waitsForApproval } from "../../waits-for-approval.ts";
import { arrange, raiseIn } from "./state-lists.ts";
import type { Standing } from "./state-lists.ts";

/**
 * A channel's threads by last activity (tables.activity), by state (tables.busy), and those whose state changed without a
 * message (tables.changed). They say where to look; the thread itself says what is true. No caller waits for these writes.
 *
 * A thread's first commit, and one that leaves it in a state other than idle, is noted here first, in the same tick: if the
 * process then dies, the thread is in the orders already; if the commit does not happen, it only stands too high, or in a list
 * that it does not belong to, until it is read. The others are noted some moments later, many threads at once, and what a
 * process that dies has not noted is put right by who reads the thread. Everything is written again later: most runs are over
 * by then and were never in a list by state. Times only grow, so any order of arrival gives the same result.
 */
export interface OrderWrites {
  /**
   * Call it before the commit is sent. What it returns is to be written with the commit: an embedded store has one slot for
   * all. On Redis that is nothing.
   */
  committing: (commit: ThreadCommit) => readonly Write[];
  /** What a list has read of a thread that stands elsewhere in the orders. */
  met: (slug: string, thread: { uid: string; state: ThreadState; updatedAtMs: number }) => void;
  /** Something that lists show of a thread changed without a commit. */
  changed: (slug: string, uid: string, atMs: number) => void;
  /** Writes everything that is pending. */
  close: () => Promise<void>;
}

/** All threads are in the orders after this time; failed writes are retried after it. */
const LATER_MS = 2_000;
/** … and those that were released are raised in them after this one. */
const SOON_MS = 100;
const AT_ONCE = 500;
/** Old changes are removed once for this many new ones. */
const TRIMMED_EVERY = 100;

export function createOrderWrites(engine: Engine, timers: Timers): OrderWrites {
  /** slug → uid → standing */
  let later = new Map<string, Map<string, Standing>>();
  /** slug → uid → last activity */
  let soon = new Map<string, Map<string, number>>();
  let callOffRaising: (() => void) | null = null;
  let callOff: (() => void) | null = null;
  let writing = Promise.resolve();
  let changes = 0;

  /** `isOlder`: what is kept already, if anything, is newer. Returns the time that is kept. */
  function keep(slug: string, uid: string, standing: Standing, isOlder = false): number {
    const threads = later.get(slug) ?? new Map<string, Standing>();
    later.set(slug, threads);
    const known = threads.get(uid);
    const { state, wasMissed } = (isOlder && known) || standing;
    const atMs = Math.max(standing.atMs, known?.atMs ?? 0);
    threads.set(uid, { state, atMs, wasMissed });
    callOff ??= timers.after(LATER_MS, () => void writeKept());
    return atMs;
  }

  function writeKept(): Promise<void> {
    callOff?.();
    callOff = null;
    return (writing = writing.then(writeAll));
  }

  async function writeAll(): Promise<void> {
    const known = later;
    later = new Map();
    for (const [slug, threads] of known) {
      const all = [...threads];
      for (let i = 0; i < all.length; i += AT_ONCE) await writeSome(slug, new Map(all.slice(i, i + AT_ONCE)));
    }
  }

  async function writeSome(slug: string, threads: ReadonlyMap<string, Standing>): Promise<void> {
    try {
      for (const uid of await arrange(engine, slug, threads)) {
        const standing = threads.get(uid);
        if (standing && standing.state !== "idle" && !standing.wasMissed) {
          keep(slug, uid, { ...standing, wasMissed: true }, true);
        }
      }
    } catch {
      for (const [uid, standing] of threads) keep(slug, uid, standing, true);
    }
  }

  function raise(slug: string, uid: string, atMs: number): void {
    const threads = soon.get(slug) ?? new Map<string, number>();
    soon.set(slug, threads.set(uid, atMs));
    callOffRaising ??= timers.after(SOON_MS, raiseAll);
  }

  function raiseAll(): void {
    callOffRaising = null;
    // Best effort: they are written once more with the rest.
    for (const [slug, threads] of soon) void raiseIn(engine, slug, threads).catch(() => {});
    soon = new Map();
  }

  function write(writes: readonly [Write, ...Write[]]): void {
    const step = { name: "order", slot: slotOf(writes[0].key), checks: [], writes };
    engine.apply(step, { durable: false }).catch(() => {});
  }

  /** Best effort: a feed that misses the change gets the thread with its next message. */
  function changeWrites(slug: string, uid: string, atMs: number): [Write, ...Write[]] {
    const key = tables.changed.key(slug);
    const put: Write = { write: "put", key, members: [[uid, atMs]], mode: "raise" };
    if (changes++ % TRIMMED_EVERY > 0) return [put];
    return [put, { write: "trim", key, belowScore: atMs - CHANGES_KEPT_MS }];
  }

  return {
    committing({ slug, uid, messages, snapshot, state, holds, claims, readOp, atMs }) {
      const last = messages.at(-1);
      // The answerer may have changed without a message; if not, its time is an old one and raises nothing.
      const saidAtMs = Math.max(last?.createdAtMs ?? 0, answererSince(snapshot));
      const activeAtMs = keep(slug, uid, { state, atMs: saidAtMs, wasMissed: false });
      const isShown = claims || !holds || waitsForApproval(snapshot);
      const writes: Write[] = !last && isShown ? changeWrites(slug, uid, atMs) : [];
      const isFirst = claims && readOp === null;
      const isBusy = !holds && state !== "idle";
      if (activeAtMs > 0 && (isFirst || isBusy || (!holds && engine.kind === "embedded"))) {
        const key = tables.activity.key(slug);
        writes.push({ write: "put", key, members: [[uid, activeAtMs]], mode: "raise" });
      } else if (activeAtMs > 0 && !holds) raise(slug, uid, activeAtMs);
      if (isBusy) {
        const key = tables.busy.key(slug, state);
        writes.push({ write: "put", key, members: [[uid, activeAtMs || atMs]], mode: "new" });
      }
      const [first, ...rest] = writes;
      if (!first || engine.kind === "embedded") return writes;
      write([first, ...rest]);
      return [];
    },

    changed: (slug, uid, atMs) => write(changeWrites(slug, uid, atMs)),

    met: (slug, { uid, state, updatedAtMs }) =>
      void keep(slug, uid, { state, atMs: updatedAtMs, wasMissed: false }, true),

    async close() {
      callOffRaising?.();
      await writeKept();
      // What could not be written is corrected by the next list that reads the thread.
      callOff?.();
    },
  };
}
