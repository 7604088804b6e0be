import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../../clock.ts";
import { StoreUnavailable } from "../../../store.ts";
import { createDeadline } from "../../deadline.ts";
import { makeDataDir } from "./data-dir.ts";
import type { Applied, Engine, Read, Step, Write } from "../../engine.ts";
import { FIRST_FORMAT, refuseOtherFormat, STORE_FORMAT } from "../../format.ts";
import { applyStep } from "./apply.ts";
import { openFile } from "./file.ts";
import type { LmdbFile } from "./file.ts";
import { lmdbHealth } from "./health.ts";
import { pagesOf } from "./pages.ts";
import { answersOf } from "./reads.ts";
import { viewOf } from "./view.ts";
import type { View } from "./view.ts";
import { dropExpired } from "./writes.ts";

export interface LmdbEngine extends Engine {
  /** Everything as it is now, for walks of any length. While it is open, the file grows with every change. */
  readMoment(): Moment;
}

export interface Moment extends Pick<Engine, "read" | "hashPages" | "memberPages" | "keys"> {
  close(): void;
}

/**
 * The embedded engine: lmdb, in one folder, without a server (layout.ts).
 *
 * A step is one child transaction: it reads, checks and writes without interruption, and one
 * that throws leaves nothing behind. lmdb gathers the steps of a tick into one commit, in a thread of its own, and answers
 * at the commit; the data are on the disk only when `flushed` resolves, so a step waits for that.
 *
 * Opens `DATA_DIR/store`, whose lock the caller holds (data-dir-lock.ts); creates it if it is missing, readable only by its owner. Throws if the folder cannot be opened,
 * or has a store of another format.
 */
export async function openLmdbEngine({
  dataDir,
  clock,
}: {
  dataDir: string;
  clock: Clock;
}): Promise<LmdbEngine> {
  const path = join(dataDir, "store");
  makeDataDir(dataDir);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
  const file = await openFile(path);
  const engine = lmdbEngine(file, dataDir, clock);
  try {
    for (const name of ["data.mdb", "lock.mdb"]) chmodSync(join(path, name), 0o600);
    await checkFormat(file, dataDir);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}

const FORMAT = "format";

/** Writes the format into a new file; throws if the file has another one. */
async function checkFormat({ db, write }: LmdbFile, dataDir: string): Promise<void> {
  const found = await write(async () => {
    const format = await db.childTransaction(() => {
      const known = db.get(FORMAT);
      if (known !== undefined) return known;
      // A file of the first format has no number, but records.
      if ([...db.getKeys({ start: "\0", limit: 1 })].length > 0) return FIRST_FORMAT;
      void db.put(FORMAT, String(STORE_FORMAT));
      return STORE_FORMAT;
    });
    await db.flushed;
    return format;
  });
  refuseOtherFormat(found, `in ${dataDir}`);
}

function lmdbEngine(file: LmdbFile, dataDir: string, clock: Clock): LmdbEngine {
  const { db, listeners } = file;
  const own: (() => void)[] = [];
  const deadline = createDeadline();
  let closing: Promise<void> | undefined;
  let nextExpiryMs = 0;
  const viewNow = () => viewOf(db, clock.now());
  const refuseClosed = () => {
    if (closing !== undefined) throw new Error("Cannot use the store: it is closed");
  };

  /** A read of the current state. `action` completes the error's "Cannot …". */
  async function look<T>(action: string, work: () => T): Promise<T> {
    try {
      refuseClosed();
      return work();
    } catch (cause) {
      throw new StoreUnavailable(action, { cause });
    }
  }

  /** A disk may hang: no call takes longer than the deadline. */
  async function change<T>(action: string, work: () => T, isFlushed: (result: T) => boolean): Promise<T> {
    const changed = async () => {
      const result = await db.childTransaction(work);
      if (isFlushed(result)) await db.flushed;
      return result;
    };
    try {
      refuseClosed();
      return await deadline.bound(
        file.write(changed),
        () => new Error("Cannot finish: the deadline has passed"),
      );
    } catch (cause) {
      throw new StoreUnavailable(action, { cause });
    }
  }

  function applyInChange<Reads extends readonly Read[]>(step: Step & { reads?: Reads }): Applied<Reads> {
    const view = viewNow();
    const applied = applyStep(db, view, step);
    for (const write of step.writes) nextExpiryMs = Math.min(nextExpiryMs, endOf(write, view.nowMs));
    for (const write of step.after ?? []) nextExpiryMs = Math.min(nextExpiryMs, endOf(write, view.nowMs));
    if (nextExpiryMs <= view.nowMs) nextExpiryMs = dropExpired(db, view);
    return applied;
  }

  /** Leaves nothing behind. */
  function trace(): boolean {
    void db.put("trace", "");
    void db.remove("trace");
    return true;
  }

  return {
    kind: "embedded",
    ...pagesOf(() => {
      refuseClosed();
      return viewNow();
    }),

    read: (reads) => look("read the store", () => answersOf(viewNow(), reads)),

    apply(step, { durable = true } = {}) {
      const { writes, after = [] } = step;
      const isOfTimeOnly = after.length === 0 && writes.every(isOfTime);
      if (isOfTimeOnly && closing === undefined && hardlyMoves(viewNow(), writes)) {
        return look("read the store", () => applyStep(db, viewNow(), { ...step, writes: [] }));
      }
      const waits = durable && !isOfTimeOnly;
      return change(
        "change the store",
        () => applyInChange(step),
        ({ type }) => waits && type !== "failed",
      );
    },

    readMoment() {
      refuseClosed();
      const transaction = db.useReadTransaction();
      const nowMs = clock.now();
      const view = () => viewOf(db, nowMs, transaction);
      return {
        ...pagesOf(view),
        read: (reads) => look("read the store", () => answersOf(view(), reads)),
        close: () => transaction.done(),
      };
    },

    timeMs: () => clock.now(),
    readTime: () => Promise.resolve(),

    tell(name, text) {
      setImmediate(() => listeners.get(name)?.forEach((listener) => listener(text)));
    },

    listen(name, listener) {
      const all = listeners.get(name) ?? new Set();
      listeners.set(name, all.add(listener));
      own.push(() => all.delete(listener));
      return Promise.resolve();
    },

    onReconnect: () => () => {},

    health: () => lmdbHealth(() => change("check the store", trace, () => true).catch(() => false), dataDir),

    async close() {
      own.forEach((end) => end());
      closing ??= file.close();
      await closing;
    },
  };
}

/** A write that a power cut may undo: the key is dropped at another time. */
const isOfTime = ({ write }: Write) => write === "expire" || write === "end";

/**
 * Would the writes move no key's end, or by `expire` by no more than a hundredth of what is left? Then they are left out: a
 * token is used much more often than its end matters, and a change costs three times a read.
 */
function hardlyMoves(view: View, writes: readonly Write[]): boolean {
  const ends = new Map<string, { atMs: number; slackMs: number }>();
  for (const write of writes) {
    const before = ends.get(write.key)?.atMs ?? view.endsAtMs(write.key) ?? Infinity;
    const atMs = endOf(write, view.nowMs);
    if (write.write === "expire") ends.set(write.key, { atMs, slackMs: write.inMs / 100 });
    else if (atMs < before) ends.set(write.key, { atMs, slackMs: 0 });
  }
  return [...ends].every(
    ([key, { atMs, slackMs }]) => Math.abs(atMs - (view.endsAtMs(key) ?? Infinity)) <= slackMs,
  );
}

/** When a key expires because of this write, Unix ms. */
function endOf(write: Write, nowMs: number): number {
  if (write.write === "expire") return nowMs + write.inMs;
  return write.write === "end" ? write.atMs : Infinity;
}
