import type { Worker } from "node:worker_threads";
import { startWorker } from "../../worker/start-worker.ts";
import type { FetchedPage } from "./kinds.ts";
import { UnreadablePage } from "./page.ts";
import type { ReadPage } from "./page.ts";

/**
 * Reads pages in a thread of its own, one after the other: a page that takes long, or much memory, ends that thread and
 * nothing else.
 */
export interface Reader {
  /** Rejects with UnreadablePage. */
  read(page: FetchedPage): Promise<ReadPage>;
  close(): Promise<void>;
}

/** A page of a site takes some milliseconds; a PDF of 500 pages some seconds. */
const TIMEOUT_MS = 20_000;
const HEAP_MB = 384;

type Answer = { read: ReadPage } | { unreadable: string };

export function createReader({ timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {}): Reader {
  let worker: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();

  function started(): Worker {
    const begun = startWorker(new URL("read-worker.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    // Its listeners of a page tell what happened.
    begun.on("error", () => {});
    begun.on("exit", () => {
      if (worker === begun) worker = null;
    });
    return begun;
  }

  function end(ended: Worker): void {
    if (worker === ended) worker = null;
    void ended.terminate();
  }

  function readNow(page: FetchedPage): Promise<ReadPage> {
    const reading = (worker ??= started());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        end(reading);
        settle(() => reject(new UnreadablePage(`it takes longer than ${timeoutMs / 1_000} s to read`)));
      }, timeoutMs);
      const onAnswer = (answer: Answer) =>
        settle(() =>
          "read" in answer ? resolve(answer.read) : reject(new UnreadablePage(answer.unreadable)),
        );
      const onError = (error: Error) => {
        end(reading);
        settle(() =>
          reject(new UnreadablePage("it needs more memory to read than a page may", { cause: error })),
        );
      };
      const onExit = () => settle(() => reject(new UnreadablePage("its reading was stopped")));

      function settle(done: () => void): void {
        clearTimeout(timer);
        reading.off("message", onAnswer).off("error", onError).off("exit", onExit);
        done();
      }

      reading.on("message", onAnswer).on("error", onError).on("exit", onExit);
      reading.postMessage(page);
    });
  }

  return {
    read(page) {
      const reading = last.then(() => readNow(page));
      last = reading.catch(() => {});
      return reading;
    },

    async close() {
      await worker?.terminate();
      worker = null;
    },
  };
}
