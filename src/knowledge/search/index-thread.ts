import type { Worker } from "node:worker_threads";
import type { FoundPassage } from "../../knowledge.ts";
import { startWorker } from "../../worker/start-worker.ts";
import type { IndexedPassage } from "./passage-index.ts";
import type { Vector } from "./vectors.ts";

/** What the thread of the indexes is asked; it answers in this order. */
export type IndexRequest = { slug: string } & (
  | { type: "change"; remove: readonly string[]; add: readonly IndexedPassage[] }
  | { type: "drop" }
  | { type: "search"; question: string; most: number; vector?: Vector }
);

export interface IndexAnswer {
  nth: number;
  found: FoundPassage[];
  fault?: string;
}

/**
 * The indexes of all channels, in one thread, which begins with the first request. It keeps the process alive while somebody
 * waits for an answer, and no longer.
 */
export interface IndexThread {
  /** Rejects if the thread ends; then all indexes are empty. */
  ask(request: IndexRequest): Promise<FoundPassage[]>;
  /** Calls back when the thread has ended. */
  onEnd(callback: () => void): void;
  close(): Promise<void>;
}

interface Waiting {
  resolve: (found: FoundPassage[]) => void;
  reject: (error: Error) => void;
}

export function createIndexThread(): IndexThread {
  let worker: Worker | null = null;
  let asked = 0;
  let onEnd = () => {};
  const waiting = new Map<number, Waiting>();

  function started(): Worker {
    const begun = startWorker(new URL("index-worker.ts", import.meta.url));
    begun.on("message", ({ nth, found, fault }: IndexAnswer) => {
      const asker = waiting.get(nth);
      waiting.delete(nth);
      if (waiting.size === 0) begun.unref();
      if (fault === undefined) asker?.resolve(found);
      else asker?.reject(new Error(`Cannot search documents: ${fault}`));
    });
    let cause: unknown;
    begun.on("error", (error) => (cause = error));
    begun.on("exit", () => {
      if (worker === begun) worker = null;
      const left = [...waiting.values()];
      waiting.clear();
      for (const { reject } of left)
        reject(new Error("Cannot search documents: their thread has ended", { cause }));
      onEnd();
    });
    return begun;
  }

  return {
    ask(request) {
      const thread = (worker ??= started());
      const nth = (asked += 1);
      return new Promise((resolve, reject) => {
        waiting.set(nth, { resolve, reject });
        thread.ref();
        thread.postMessage({ ...request, nth });
      });
    },

    onEnd(callback) {
      onEnd = callback;
    },

    async close() {
      await worker?.terminate();
    },
  };
}
