import cluster from "node:cluster";
import type { Worker } from "node:cluster";
import { setTimeout as pause } from "node:timers/promises";
import type { Sample } from "../../metrics/sample.ts";
import { isFromProcess } from "./messages.ts";
import type { FromProcess, ToProcess } from "./messages.ts";

/** The message of a process that has begun to listen. */
export type Told = Extract<FromProcess, { type: "listening" }>;

/** How long to wait for its last messages after the exit: they may arrive after the exit event. */
const LAST_WORDS_MS = 1_000;

/** One process of the service, as its supervisor sees it. */
export class ServiceProcess {
  readonly #worker: Worker;
  #failure: string | null = null;
  /** Its newest metrics. */
  sample: Sample | null = null;
  #sampled: (() => void)[] = [];
  /** When it began to listen, as `performance.now()` counts; null: not yet. */
  listeningSinceMs: number | null = null;
  /** How many messages have come from it. */
  heard = 0;
  /** True: its end was asked for. */
  isLeaving = false;
  /** Resolves when it listens; rejects with its reason if it ends before. */
  readonly listening: Promise<Told>;
  /** Resolves with how it ended. */
  readonly ended: Promise<string>;
  /** Resolves when it has ended and nothing more can come from it. */
  readonly silent: Promise<void>;

  constructor(onMessage: (process: ServiceProcess, message: FromProcess) => void) {
    const worker = cluster.fork();
    this.#worker = worker;
    this.ended = new Promise((resolve) => {
      worker.process.once("exit", (code, signal) => resolve(this.#end(code, signal)));
      // It could not be started at all.
      worker.process.once("error", (error) => resolve(error.message));
    });
    const disconnected = new Promise<void>((resolve) => {
      worker.process.once("disconnect", () => resolve());
    });
    this.silent = this.ended.then(() => Promise.race([disconnected, pause(LAST_WORDS_MS)]));
    this.listening = new Promise((resolve, reject) => {
      worker.on("message", (message: unknown) => {
        if (!isFromProcess(message)) return;
        this.heard++;
        if (message.type === "failed") this.#failure = message.reason;
        if (message.type === "sample") this.#takeSample(message.sample);
        if (message.type === "listening") {
          this.listeningSinceMs = performance.now();
          resolve(message);
        }
        onMessage(this, message);
      });
      void this.silent.then(async () =>
        reject(new Error(this.#failure ?? `it ended with ${await this.ended}`)),
      );
    });
    // Callers that await it get the rejection; without one, it must not count as unhandled.
    this.listening.catch(() => {});
  }

  /** Unique in a service's life: the process that replaces this one has another number. */
  get number(): number {
    return this.#worker.id;
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  tell(message: ToProcess): void {
    // A process that is ending does not get it; its exit is reported separately.
    if (this.#worker.isConnected()) this.#worker.send(message, () => {});
  }

  leave(how: "stop" | "retire"): void {
    this.isLeaving = true;
    this.tell({ type: how });
  }

  kill(): void {
    this.#worker.process.kill("SIGKILL");
  }

  /** Resolves when its newest metrics arrive, or after `withinMs`: a busy process must not hold up the others. */
  async newSample(withinMs: number): Promise<void> {
    const came = new Promise<void>((resolve) => this.#sampled.push(resolve));
    this.tell({ type: "give sample" });
    const late = new AbortController();
    const waited = pause(withinMs, undefined, { signal: late.signal }).catch(() => {});
    await Promise.race([came, waited, this.silent]);
    late.abort();
  }

  #takeSample(sample: Sample): void {
    this.sample = sample;
    for (const resolve of this.#sampled.splice(0)) resolve();
  }

  #end(code: number | null, signal: string | null): string {
    return signal === null ? `exit code ${code}` : signal;
  }
}
