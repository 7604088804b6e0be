import type { Line } from "../../../machines/line.ts";
import { cutText, isTerminal } from "../../../machines/line.ts";
import type { Threads } from "../../threads/threads.ts";
import type { PlainLog } from "../../log.ts";
import { StoreUnavailable } from "../../store.ts";
import type { RunSummary, Store, ThreadRecord } from "../../store.ts";
import { machineView, runView } from "./machine-view.ts";
import { ReadAlong } from "./read-along.ts";
import type { Sight } from "../accounts/sight.ts";

/** A watcher gets this many of the newest runs: together far less than a reader may leave unread (1 MiB). */
const RUNS = 30;
const MOVES = 2_000;
const DELTA_CHARS = 20_000;
/** How often the store is polled; a line of the run brings the next poll sooner. */
const POLL_MS = 1_000;
const SOON_MS = 60;
/** Proxies cut a silent stream, so a heartbeat is sent this often. */
const BEAT_MS = 10_000;

export interface WatchDependencies {
  store: Pick<Store, "load" | "runs">;
  threads: Pick<Threads, "follow">;
  log: PlainLog;
}

export interface WatchedThread {
  /** Something has happened in the thread: the next poll comes soon. */
  poke(): void;
  stop(): void;
}

/**
 * Watches one thread's machine, on whichever instance its run is: polls the store once a second for states and commits, and reads the
 * run's stream. Calls `onSight` with each update until the watch is stopped.
 */
export function watchThread(
  dependencies: WatchDependencies,
  uid: string,
  onSight: (sight: Sight) => void,
): WatchedThread {
  const watch = new ThreadWatch(dependencies, uid, onSight);
  watch.start();
  return { poke: () => watch.poke(), stop: () => watch.stop() };
}

class ThreadWatch {
  readonly #store: WatchDependencies["store"];
  readonly #log: PlainLog;
  readonly #uid: string;
  readonly #onSight: (sight: Sight) => void;
  readonly #readAlong: ReadAlong;
  #isStopped = false;
  #isPolling = false;
  /** True if `poke` was called since the current poll began. */
  #isPoked = false;
  #timer: NodeJS.Timeout | null = null;
  #beat: NodeJS.Timeout | null = null;
  /** The result of the last poll: if it is unchanged, nothing is sent. */
  #seen: string | null = null;
  #seenRun: string | null = null;

  constructor({ store, threads, log }: WatchDependencies, uid: string, onSight: (sight: Sight) => void) {
    this.#store = store;
    this.#log = log;
    this.#uid = uid;
    this.#onSight = onSight;
    this.#readAlong = new ReadAlong(threads, uid, (runId, lines, fresh) => this.#pass(runId, lines, fresh));
  }

  start(): void {
    this.#beat = setInterval(() => this.#onSight({ type: "beat" }), BEAT_MS).unref();
    void this.#poll();
  }

  poke(): void {
    if (this.#isPoked) return;
    this.#isPoked = true;
    if (!this.#isPolling) this.#pollIn(SOON_MS);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#beat) clearInterval(this.#beat);
    if (this.#timer) clearTimeout(this.#timer);
    this.#readAlong.stop();
  }

  async #poll(): Promise<void> {
    if (this.#isPolling || this.#isStopped) return;
    this.#isPolling = true;
    this.#isPoked = false;
    try {
      const record = await this.#store.load(this.#uid, 1);
      if (record === null) this.#showOnce("untouched", { type: "untouched" });
      else await this.#show(record);
    } catch (error) {
      const isAway = error instanceof StoreUnavailable;
      if (!isAway) this.#log.warn({ uid: this.#uid, err: error }, "cannot watch a thread");
      this.#showOnce("trouble", {
        type: "trouble",
        message: isAway ? "The store does not answer" : "The thread cannot be read: the log says why",
      });
    } finally {
      this.#isPolling = false;
      this.#pollIn(this.#isPoked ? SOON_MS : POLL_MS);
    }
  }

  #pollIn(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = this.#isStopped ? null : setTimeout(() => void this.#poll(), ms).unref();
  }

  async #show(record: ThreadRecord): Promise<void> {
    const { rev, fence, waitingCount, run } = record;
    const mark = `${rev} ${fence} ${waitingCount}`;
    if (mark !== this.#seen) await this.#showChange(record, mark);
    if (run) await this.#readAlong.follow(run);
  }

  async #showChange(record: ThreadRecord, mark: string): Promise<void> {
    const { run } = record;
    const isNewRun = run?.runId !== this.#seenRun;
    const runs = isNewRun ? await this.#store.runs(this.#uid, RUNS) : [];
    if (this.#isStopped) return;
    this.#showOnce(mark, { type: "thread", thread: machineView(record) });
    if (isNewRun) this.#onSight({ type: "runs", runs: newest(runs).map(runView) });
    if (run) this.#onSight({ type: "runs", runs: [runView(run)] });
    this.#seenRun = run?.runId ?? null;
  }

  #showOnce(mark: string, sight: Sight): void {
    if (this.#isStopped || mark === this.#seen) return;
    this.#seen = mark;
    this.#onSight(sight);
  }

  #pass(runId: string, lines: Line[], fresh: boolean): void {
    this.#onSight({ type: "said", runId, fresh, lines: lines.map(shortened) });
    const last = lines.at(-1);
    if (last && (last.type === "step" || isTerminal(last))) this.poke();
  }
}

/** As many of the newest runs as have MOVES moves in total, and always the last run. */
function newest(runs: readonly RunSummary[]): RunSummary[] {
  let moves = 0;
  const oldest = runs.findLastIndex((run) => (moves += run.path.length) > MOVES);
  return runs.slice(Math.min(oldest + 1, Math.max(0, runs.length - 1)));
}

function shortened(line: Line): Line {
  return line.type === "delta" ? { type: "delta", text: cutText(line.text, DELTA_CHARS) } : line;
}
