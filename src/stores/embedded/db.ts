import { createHash } from "node:crypto";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Transaction } from "lmdb";
import { StoreUnavailable, UnreadableRecord } from "../../store.ts";
import type { Reader } from "../checks.ts";
import { createDeadline } from "../deadline.ts";
import { makeDataDir } from "./data-dir.ts";
import { openFile } from "./file.ts";
import type { Key } from "./file.ts";
import { FIRST_FORMAT, refuseLaterFormat, STORE_FORMAT } from "../format.ts";

/**
 * The embedded store's database: records of JSON text under keys made of parts, in one lmdb file.
 *
 * A change is one child transaction: it reads, decides and writes without interruption by this process or another,
 * and a step that throws leaves nothing behind. lmdb gathers the changes of a tick into one commit, in a thread of
 * its own, and answers at the commit; the data are on the disk only when `flushed` resolves, so a change waits for
 * that.
 *
 * JSON and not lmdb's msgpack: it returns every string unchanged, and any tool can read it. Every record is checked
 * when it is read (../records.ts), and a file of a later format is not opened (../format.ts).
 */
const FORMAT_KEY: Key = ["format"];

export type { Key } from "./file.ts";

export interface RangeOptions {
  /** The first key, inclusive; the range goes on to the end of the prefix, or with `reverse` to its start. */
  from?: Key;
  /** From the end to the start. */
  reverse?: boolean;
  limit?: number;
}

export interface EmbeddedDb {
  get<T>(key: Key, read: Reader<T>): T | undefined;
  has(key: Key): boolean;
  /** All records whose key begins with the prefix, sorted by key. */
  range<T>(prefix: Key, read: Reader<T>, options?: RangeOptions): Iterable<{ key: Key; value: T }>;
  /** Within a change only. */
  put(key: Key, value: unknown): void;
  /** Within a change only. */
  remove(key: Key): void;
  /** One consistent view of everything. `action` completes the error's "Cannot …". */
  read<T>(action: string, look: () => T): Promise<T>;
  /** One atomic step; resolves when it is on disk. */
  change<T>(action: string, step: () => T): Promise<T>;
  /** One record that a power cut may lose: resolves when every process sees it. */
  note(action: string, key: Key, value: unknown): Promise<void>;
  /** Everything as it is now, for reads of any length. While it is open, the file grows with every change. */
  snapshot(): Snapshot;
  close(): Promise<void>;
}

export interface Snapshot extends Pick<EmbeddedDb, "get" | "has" | "range"> {
  /** The number of records whose key begins with the prefix. */
  count(prefix: Key): number;
  close(): void;
}

// Sorts after every number and string in lmdb's keys.
const LAST = new Uint8Array([0xff]);

// lmdb's keys allow no NUL and at most 1,978 bytes. Texts of callers are hashed, unless they are short and plain.
const PLAIN = /^[\w.:~-]{1,64}$/;

/** A text of any length and content as a part of a key. */
export function keyPart(text: string): string {
  return PLAIN.test(text) ? text : `#${createHash("sha256").update(text).digest("hex")}`;
}

/** Opens `DATA_DIR/store`; creates it if it is missing, readable only by its owner. */
export async function openDb(dataDir: string): Promise<EmbeddedDb> {
  const path = join(dataDir, "store");
  makeDataDir(dataDir);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
  const { db, write, close } = await openFile(path);
  for (const file of ["data.mdb", "lock.mdb"]) chmodSync(join(path, file), 0o600);

  const deadline = createDeadline();
  let closing: Promise<void> | undefined;
  // An unreadable record is not an outage: a retry would find the same.
  const failure = (action: string, cause: unknown) =>
    cause instanceof UnreadableRecord ? cause : new StoreUnavailable(action, { cause });
  const refuseClosed = (action: string) => {
    if (closing !== undefined) throw failure(action, new Error("Cannot use the store: it is closed"));
  };

  /** Another process may keep the writer's lock, and a disk may hang: no call takes longer than the deadline. */
  async function bounded<T>(action: string, work: () => Promise<T>): Promise<T> {
    refuseClosed(action);
    try {
      return await deadline.bound(write(work), () => new Error("Cannot finish: the deadline has passed"));
    } catch (cause) {
      throw failure(action, cause);
    }
  }

  /** Reads the current state, or the state at the beginning of the transaction. */
  function readsOf(at: { transaction?: Transaction }): Pick<EmbeddedDb, "get" | "has" | "range"> {
    return {
      get(key, read) {
        const value = db.get(key, at);
        return value === undefined ? undefined : read(value, key);
      },

      has: (key) => (at.transaction ? db.get(key, at) !== undefined : db.doesExist(key)),

      range(prefix, read, { from, reverse = false, limit } = {}) {
        const last = [...prefix, LAST];
        const bounds = reverse ? { start: from ?? last, end: prefix } : { start: from ?? prefix, end: last };
        const options = { ...bounds, reverse, ...(limit === undefined ? {} : { limit }), ...at };
        return db.getRange(options).map(({ key, value }) => ({ key, value: read(value, key) }));
      },
    };
  }

  return {
    ...readsOf({}),

    snapshot() {
      const transaction = db.useReadTransaction();
      return {
        ...readsOf({ transaction }),
        count: (prefix) => db.getKeysCount({ start: prefix, end: [...prefix, LAST], transaction }),
        close: () => transaction.done(),
      };
    },

    put(key, value) {
      void db.put(key, value);
    },

    remove(key) {
      void db.remove(key);
    },

    async read(action, look) {
      refuseClosed(action);
      try {
        return look();
      } catch (cause) {
        throw failure(action, cause);
      }
    },

    change(action, step) {
      return bounded(action, async () => {
        const result = await db.childTransaction(step);
        await db.flushed;
        return result;
      });
    },

    note(action, key, value) {
      return bounded(action, async () => {
        await db.put(key, value);
      });
    },

    async close() {
      closing ??= close();
      await closing;
    },
  };
}

/** Writes the format, or raises an older one; throws if the file has a later format. */
export async function checkFormat(db: EmbeddedDb, dataDir: string): Promise<void> {
  const found = await db.change("open the store", () => {
    const format = db.get(FORMAT_KEY, (value) => value) ?? FIRST_FORMAT;
    if (typeof format === "number" && format < STORE_FORMAT) db.put(FORMAT_KEY, STORE_FORMAT);
    return format;
  });
  refuseLaterFormat(found, `in ${dataDir}`);
}
