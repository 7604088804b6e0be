import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Store } from "../../src/store.ts";
import { until } from "../support/until.ts";
import { BUDGET_CHARS, sampleCommit, sampleMessage } from "../stores/samples.ts";

/** Somebody who asks the store for one thing after another, whatever it answers. */
export interface Caller {
  /** What went wrong so far, in order. */
  readonly errors: readonly unknown[];
  readonly slowestMs: number;
  /** Resolves after so many more answers. */
  answered(times: number): Promise<void>;
  /** Resolves after so many more errors. */
  refused(times: number): Promise<void>;
  /** Resolves after so many more of either. */
  asked(times: number): Promise<void>;
  stop(): Promise<void>;
}

/** Between a refusal and the next try: what is refused at once would drown the rest. */
const REST_MS = 10;

/** Stops with the test. */
export function startCaller(ask: () => Promise<unknown>): Caller {
  const errors: unknown[] = [];
  let answers = 0;
  let slowestMs = 0;
  let stopped = false;

  const calling = (async () => {
    while (!stopped) {
      const startedMs = performance.now();
      try {
        await ask();
        answers += 1;
        slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      } catch (error) {
        slowestMs = Math.max(slowestMs, performance.now() - startedMs);
        errors.push(error);
        await pause(REST_MS);
      }
    }
  })();

  async function stop(): Promise<void> {
    stopped = true;
    await calling;
  }
  onTestFinished(stop);

  return {
    errors,
    get slowestMs() {
      return slowestMs;
    },
    async answered(times) {
      const enough = answers + times;
      await until(`${times} answers`, () => answers >= enough);
    },
    async refused(times) {
      const enough = errors.length + times;
      await until(`${times} refusals`, () => errors.length >= enough);
    },
    async asked(times) {
      const enough = answers + errors.length + times;
      await until(`${times} outcomes`, () => answers + errors.length >= enough);
    },
    stop,
  };
}

/** What went wrong, and how often. */
export function errorsOf(callers: Caller[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const error of callers.flatMap(({ errors }) => errors)) {
    counts[String(error)] = (counts[String(error)] ?? 0) + 1;
  }
  return counts;
}

/**
 * The one who holds a thread: a commit and a load by turns, each commit on the one before it. What was refused is said
 * again by the same name, as a run does it. A revision that is gone is an error, or, where one may be lost with a
 * primary (`mayLose`), is gone on from.
 */
export function holderOfThread(
  store: Store,
  uid: string,
  options: { mayLose?: boolean } = {},
): () => Promise<void> {
  const fence = `${store.processId}:of-${uid}`;
  let rev = 0;
  let loads = false;

  async function load(): Promise<void> {
    const found = (await store.load(uid, BUDGET_CHARS))?.rev ?? 0;
    if (found !== rev && !options.mayLose)
      throw new Error(`${uid} is at revision ${found} instead of ${rev}`);
    rev = found;
  }

  async function commit(): Promise<void> {
    const result = await store.commit(
      sampleCommit({
        uid,
        opId: `commit-${rev}`,
        fence,
        claims: rev === 0,
        rev,
        messages: [sampleMessage(rev + 1)],
      }),
    );
    if (result.type === "committed") rev = result.rev;
    else if (!options.mayLose) throw new Error(`Cannot commit to ${uid}: ${result.type}`);
  }

  return async () => {
    await (loads ? load() : commit());
    loads = !loads;
  };
}
