import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { WorkerOptions } from "node:worker_threads";

/**
 * Starts the thread of a module. It does not keep the process alive until somebody listens to its messages. `module` names the source (`.ts`), beside which the
 * build puts its JavaScript. From sources, in tests and during development, tsx reads it: Node 20 cannot, and there
 * `--import tsx` does nothing in a thread.
 */
export function startWorker(module: URL, options: WorkerOptions = {}): Worker {
  const worker = import.meta.url.endsWith(".ts")
    ? new Worker(new URL("source-worker.mjs", import.meta.url), { ...options, argv: [module.href] })
    : new Worker(fileURLToPath(module).replace(/\.ts$/, ".js"), options);
  worker.unref();
  return worker;
}
