import { Refusal } from "../../domain/refusal.ts";
import type { RunsRead, ThreadRecord } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import { HeldThread } from "./held-thread.ts";
import type { HeldThreadDependencies } from "./held-thread.ts";
import type { HeldThreads } from "./held-threads.ts";
import type { Remembered } from "./remembered.ts";

/** Reads threads and opens them for a claim; every command from outside begins here. */
export interface Claims {
  load(uid: string, runs?: RunsRead): Promise<ThreadRecord | null>;
  /** For a message: as this process released the thread lately, or as the store has it. The claim says if that is out of date. */
  loadToSay(uid: string): Promise<ThreadRecord | null>;
  /** A thread as it was read, ready to be claimed. */
  open(thread: {
    uid: string;
    slug: string;
    record: ThreadRecord | null;
    traceparent: string | null;
  }): HeldThread;
  /**
   * Runs an attempt on a thread as the store has it, and repeats it on a fresh reading while it returns "again".
   * `loading`: the first reading, if the caller began it early.
   */
  onFresh<Result>(
    uid: string,
    loading: Promise<ThreadRecord | null> | undefined,
    attempt: (record: ThreadRecord | null) => Promise<Result | "again">,
  ): Promise<Result>;
}

/** How many attempts to make on a thread that keeps changing between the reading and the claim. */
const MAX_ATTEMPTS = 20;

export function createClaims(
  dependencies: HeldThreadDependencies & Pick<ThreadDependencies, "store" | "limits" | "tracing">,
  held: HeldThreads,
  remembered: Pick<Remembered, "take">,
): Claims {
  const { store, limits, tracing } = dependencies;
  // With tracing, the last run is needed even if it is over: the next segment of the trace links to it.
  const readFor = (runs?: RunsRead) => (tracing && runs === "active" ? "last" : runs);
  const load = (uid: string, runs?: RunsRead) => store.load(uid, limits.historyBudgetChars, readFor(runs));

  return {
    load,

    async loadToSay(uid) {
      return remembered.take(uid) ?? load(uid, "active");
    },

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
