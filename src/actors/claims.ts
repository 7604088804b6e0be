import { Refusal } from "../domain/refusal.ts";
import type { RunsRead, ThreadRecord } from "../store.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import { HeldThread } from "./held-thread.ts";
import type { HeldThreadDependencies } from "./held-thread.ts";
import type { HeldThreads } from "./held-threads.ts";

/** How this process reads threads and takes them: what every command from outside begins with. */
export interface Claims {
  load(uid: string, runs?: RunsRead): Promise<ThreadRecord | null>;
  /** A thread to claim, as it was read. */
  open(thread: {
    uid: string;
    slug: string;
    record: ThreadRecord | null;
    traceparent: string | null;
  }): HeldThread;
  /**
   * Attempts something on a thread as the store has it: again on a fresh reading while the attempt answers "again".
   * `loading`: the first reading, which the caller began early.
   */
  onFresh<Result>(
    uid: string,
    loading: Promise<ThreadRecord | null> | undefined,
    attempt: (record: ThreadRecord | null) => Promise<Result | "again">,
  ): Promise<Result>;
}

/** How often something is attempted on a thread that changes between the reading and the claim. */
const MAX_ATTEMPTS = 20;

export function createClaims(
  dependencies: HeldThreadDependencies & Pick<ThreadDependencies, "store" | "limits" | "tracing">,
  held: HeldThreads,
): Claims {
  const { store, limits, tracing } = dependencies;
  // The last run knows what the next segment of a trace links to, also where it is over.
  const readFor = (runs?: RunsRead) => (tracing && runs === "active" ? "last" : runs);
  const load = (uid: string, runs?: RunsRead) => store.load(uid, limits.historyBudgetChars, readFor(runs));

  return {
    load,
    open: (thread) => new HeldThread(dependencies, held, thread),

    async onFresh(uid, loading, attempt) {
      let record = await (loading ?? load(uid));
      for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
        const result = await attempt(record);
        if (result !== "again") return result;
        record = await load(uid);
      }
      throw new Refusal("unavailable", "The thread is busy", 1);
    },
  };
}
