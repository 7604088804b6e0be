import { open } from "lmdb";
import type { RootDatabase } from "lmdb";
import { openWhileNobodyWrites } from "./opening.ts";
import type { Opened } from "./opening.ts";

/** `[kind, …]`; the parts after the kind are numbers, or texts that went through `keyPart`. */
export type Key = (string | number)[];

/** lmdb's handle for the file in a folder. */
export interface LmdbFile extends Pick<Opened<unknown>, "write"> {
  db: RootDatabase<unknown, Key>;
  /** Ends this use; the last one closes the file. */
  close: () => Promise<void>;
}

/**
 * One handle for each path in a process: two would wait for ever for each other's writes, on the one thread that
 * makes them.
 */
const handles = new Map<string, { opening: Promise<Opened<RootDatabase<unknown, Key>>>; users: number }>();

/** Opens the folder's file, and creates it if missing. Rejects if a process that has it open does not answer. */
export async function openFile(path: string): Promise<LmdbFile> {
  const handle = handles.get(path) ?? { opening: openLmdb(path), users: 0 };
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

function openLmdb(path: string): Promise<Opened<RootDatabase<unknown, Key>>> {
  return openWhileNobodyWrites(path, () => open<unknown, Key>({ path, encoding: "json" }));
}
