import { open } from "lmdb";
import type { RootDatabase } from "lmdb";
import { openWhileNobodyWrites } from "./opening.ts";
import type { Opened } from "./opening.ts";

/** Texts by text, sorted by the bytes of their keys (layout.ts). */
export type LmdbDb = RootDatabase<string, string>;

/** Who listens, by name. */
type Listeners = Map<string, Set<(text: string) => void>>;

/** lmdb's handle for the file in a folder. */
export interface LmdbFile extends Pick<Opened<unknown>, "write"> {
  db: LmdbDb;
  /** Of all uses in this process. */
  listeners: Listeners;
  /** Ends this use; the last one closes the file. */
  close: () => Promise<void>;
}

interface Handle {
  opening: Promise<Opened<LmdbDb>>;
  users: number;
  listeners: Listeners;
}

/**
 * One handle for each path in a process: two would wait for ever for each other's writes, on the one thread that
 * makes them.
 */
const handles = new Map<string, Handle>();

/** Opens the folder's file, and creates it if missing. Rejects if a process that has it open does not answer. */
export async function openFile(path: string): Promise<LmdbFile> {
  const handle = handles.get(path) ?? { opening: openLmdb(path), users: 0, listeners: new Map() };
  handle.users++;
  handles.set(path, handle);
  const release = () => {
    handle.users--;
    if (handle.users > 0) return false;
    handles.delete(path);
    return true;
  };
  try {
    const { file, write, leave } = await handle.opening;
    return {
      db: file,
      write,
      listeners: handle.listeners,
      async close() {
        if (!release()) return;
        // The last process to close the file removes its locks, which a process opening it at that moment would go on
        // using.
        try {
          await write(() => file.close());
        } finally {
          await leave();
        }
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** lmdb's own keys allow neither a NUL nor any other of the first control characters in long texts. */
const keyEncoder = {
  writeKey: (key: string, target: Buffer, start: number) => start + target.write(key, start, "utf8"),
  readKey: (source: Buffer, start: number, end: number) => source.toString("utf8", start, end),
};

function openLmdb(path: string): Promise<Opened<LmdbDb>> {
  return openWhileNobodyWrites(path, () => open<string, string>({ path, encoding: "string", keyEncoder }));
}
