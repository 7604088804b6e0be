import { open } from "lmdb";
import type { RootDatabase } from "lmdb";
import { createChanges } from "./changes.ts";
import type { Changes } from "./changes.ts";

/** Texts by text, sorted by the bytes of their keys (layout.ts). */
export type LmdbDb = RootDatabase<string, string>;

/** Who listens, by name. */
type Listeners = Map<string, Set<(text: string) => void>>;

/** lmdb's handle for the file in a folder. */
export interface LmdbFile {
  db: LmdbDb;
  /** Makes a change; resolves when it is over. */
  write: Changes["run"];
  /** Of all uses in this process. */
  listeners: Listeners;
  /** Ends this use; the last one closes the file. */
  close: () => Promise<void>;
}

interface Handle {
  db: LmdbDb;
  changes: Changes;
  users: number;
  listeners: Listeners;
}

/**
 * One handle for each path in a process: two would wait for ever for each other's writes, on the one thread that
 * makes them.
 */
const handles = new Map<string, Handle>();
const closing = new Map<string, Promise<void>>();

/**
 * Opens the folder's file, and creates it if missing. No other process may have it open (data-dir-lock.ts): when lmdb 3.5.6
 * opens a file, it resets the number of the last transaction, for all processes, to the one that it has just read
 * (`mti_txnid` in mdb_env_open2), and a commit between the two is overwritten.
 */
export async function openFile(path: string): Promise<LmdbFile> {
  await closing.get(path);
  const handle = handles.get(path) ?? openHandle(path);
  handle.users++;
  handles.set(path, handle);
  const { db, changes, listeners } = handle;
  return {
    db,
    write: (change) => changes.run(change),
    listeners,
    async close() {
      handle.users--;
      if (handle.users > 0) return;
      handles.delete(path);
      const closed = changes.run(() => db.close()).finally(() => closing.delete(path));
      closing.set(path, closed);
      await closed;
      changes.end();
    },
  };
}

/** lmdb's own keys allow neither a NUL nor any other of the first control characters in long texts. */
const keyEncoder = {
  writeKey: (key: string, target: Buffer, start: number) => start + target.write(key, start, "utf8"),
  readKey: (source: Buffer, start: number, end: number) => source.toString("utf8", start, end),
};

function openHandle(path: string): Handle {
  const db = open<string, string>({ path, encoding: "string", keyEncoder });
  return { db, changes: createChanges(), users: 0, listeners: new Map() };
}
