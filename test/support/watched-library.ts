import { readFileSync } from "node:fs";
import { library } from "../../src/stores/redis/functions.ts";
import type { Orders } from "./redis-orders.ts";

/** The store's library on one server, with an eye on what its functions do: watched-library.lua. */
export interface WatchedLibrary {
  /** Tries every call on a half-moved slot first, and notes what went wrong; the call itself is done as ever. */
  watch(): Promise<void>;
  /** Sets what the functions take for the server's clock; 0 is the real time. */
  setClock(aheadMs: number): Promise<void>;
  /** What was noted since it was asked last, each sentence once; and functions that nobody has called. */
  told(): Promise<{ faults: string[]; missed: string[] }>;
}

const prelude = readFileSync(new URL("watched-library.lua", import.meta.url), "utf8");

/**
 * Under the library's own name: a store that is opened later finds it, and loads no other. `functions` stand for the
 * store's where a test brings its own.
 */
export async function loadWatchedLibrary({ send }: Orders, functions = library): Promise<WatchedLibrary> {
  const [shebang = "", version = "", ...source] = functions.split("\n");
  await send("FUNCTION", "LOAD", [shebang, version, prelude, ...source].join("\n"));
  return {
    async watch() {
      await send("FCALL", "watch", "0", "1");
    },
    async setClock(aheadMs) {
      await send("FCALL", "set_clock", "0", String(aheadMs));
    },
    async told() {
      const [notes, missed] = (await send("FCALL", "told", "0")) as [string[], string[]];
      const named = (text: string) => text.replace(/_[0-9a-f]{16}\b/g, "");
      return { faults: [...new Set(notes.map(named))], missed: missed.map(named) };
    },
  };
}
