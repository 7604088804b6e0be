import { parentPort } from "node:worker_threads";
import { readPage } from "./kinds.ts";
import type { FetchedPage } from "./kinds.ts";
import { UnreadablePage } from "./page.ts";

/** The thread of a reader (reader.ts): answers each page with its text, or with why it has none. */
parentPort?.on("message", (page: FetchedPage) => {
  readPage(page).then(
    (read) => parentPort?.postMessage({ read }),
    (error: unknown) => {
      const unreadable = error instanceof UnreadablePage ? error.message : "it cannot be read";
      parentPort?.postMessage({ unreadable });
    },
  );
});
