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
 * A change is one child transaction: it reads, decides and writes with nobody in between, in this process or another,
 * and a step that throws leaves nothing behind. lmdb gathers the changes of one tick into one commit, in a thread of its
 * own, and answers at the commit; the disk has it only when `flushed` resolves, and that is what a change waits for.
 *
 * JSON rather than lmdb's msgpack: it gives back every string as it was, and any tool can read it. Every record is
 * checked as it is read (../records.ts), and a file of a later format is not opened (../format.ts).
 */
const FORMAT_KEY: Key = ["format"];

export type { Key } from "./file.ts";

export interface RangeOptions {
  /** The key, itself included, at which the walk begins; it goes on to that end of the prefix to which it walks. */
  from?: Key;
  /** From the end towards the start. */
  reverse?: boolean;
  limit?: number;
}

export interface EmbeddedDb {
  get<T>(key: Key, read: Reader<T>): T | undefined;
  has(key: Key): boolean;
  /** All records whose key begins with the prefix, in the order of their keys. */
  range<T>(prefix: Key, read: Reader<T>, options?: RangeOptions): Iterable<{ key: Key; value: T }>;
  /** Within a change only. */
  put(key: Key, value: unknown): void;
  /** Within a change only. */
  remove(key: Key): void;
  /** One consistent view of everything. `action` completes the error's "Cannot …". */
  read<T>(action: string, look: () => T): Promise<T>;
  /** One atomic step; resolves when it is on disk. */
  change<T>(action: string, step: () => T): Promise<T>;
  /** One record that may be forgotten in a power cut: resolves when every process sees it. */
  note(action: string, key: Key, value: unknown): Promise<void>;
  /** Everything as it is now, to be read for as long as it takes. While it is open, the file grows with every change. */
  snapshot(): Snapshot;
  close(): Promise<void>;
}

export interface Snapshot extends Pick<EmbeddedDb, "get" | "has" | "range"> {
  /** How many records' keys begin with the prefix. */
  count(prefix: Key): number;
  close(): void;
}

// Above every number and string in lmdb's order of keys.
const LAST = new Uint8Array([0xff]);

// lmdb's keys take no NUL and at most 1,978 bytes. What callers chose is hashed, unless it is short and plain.
const PLAIN = /^[\w.:~-]{1,64}$/;

/** A text of any length and content as a part of a key. */
export function keyPart(text: string): string {
  return PLAIN.test(text) ? text : `#${createHash("sha256").update(text).digest("hex")}`;
}

/** Opens `DATA_DIR/store`, and makes it, readable by its owner alone, where it is missing. */
export async function openDb(dataDir: string): Promise<EmbeddedDb> {
  const path = join(dataDir, "store");
  makeDataDir(dataDir);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
  const { db, write, close } = await openFile(path);
  for (const file of ["data.mdb", "lock.mdb"]) chmodSync(join(path, file), 0o600);

  const deadline = createDeadline();
  let closing: Promise<void> | undefined;
  // A record that cannot be read is no outage: it is the same at the next try.
  const failure = (action: string, cause: unknown) =>
    cause instanceof UnreadableRecord ? cause : new StoreUnavailable(action, { cause });
  const refuseClosed = (action: string) => {
    if (closing !== undefined) throw failure(action, new Error("Cannot use the store: it is closed"));
  };

  /** Another process may keep the writer's lock, and a disk may hang: nobody waits longer than the deadline. */
  async function bounded<T>(action: string, work: () => Promise<T>): Promise<T> {
    refuseClosed(action);
    try {
      return await deadline.bound(write(work), () => new Error("Cannot finish: the deadline has passed"));
    } catch (cause) {
      throw failure(action, cause);
    }
  }

  /** Reads what is there now, or was when the transaction began. */
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

/** Writes the format, or raises an older one; throws where the file is of a later format. */
export async function checkFormat(db: EmbeddedDb, dataDir: string): Promise<void> {
  const found = await db.change("open the store", () => {
    const format = db.get(FORMAT_KEY, (value) => value) ?? FIRST_FORMAT;
    if (typeof format === "number" && format < STORE_FORMAT) db.put(FORMAT_KEY, STORE_FORMAT);
    return format;
  });
  refuseLaterFormat(found, `in ${dataDir}`);
}
