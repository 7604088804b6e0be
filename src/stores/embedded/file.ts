import { open } from "lmdb";
import type { RootDatabase } from "lmdb";
import { openWhileNobodyWrites } from "./opening.ts";
import type { Opened } from "./opening.ts";

/** `[kind, …]`; the parts after the kind are numbers, or texts that went through `keyPart`. */
export type Key = (string | number)[];

/** lmdb's handle of the file in a folder. */
export interface LmdbFile extends Pick<Opened<unknown>, "write"> {
  db: RootDatabase<unknown, Key>;
  /** Of this user; closes the file with the last one. */
  close: () => Promise<void>;
}

/**
 * One handle for each path in a process: two would wait for each other's writes on the one thread that both write from,
 * for ever.
 */
const handles = new Map<string, { opening: Promise<Opened<RootDatabase<unknown, Key>>>; users: number }>();

/** Opens the file of that folder, and makes it where it is missing. Rejects where a process that has it open does not answer. */
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
        // Who closes the file as the only one takes its locks down, which one that opens it meanwhile goes on to use.
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
