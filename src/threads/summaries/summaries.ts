import type { KnownHistory, Summarizing } from "../../agent.ts";
import type { Ranges } from "../../domain/threads/branches.ts";
import type { HistorySummary } from "../../domain/threads/history-summary.ts";
import type { RunRecord } from "../../domain/threads/message.ts";
import type { SummaryOutcome, ThreadDependencies } from "../dependencies.ts";
import { messagesAfter } from "./messages-after.ts";

/**
 * Summaries of the beginnings of long conversations. A thread that was let go is looked at: if its history has outgrown what
 * the model can be sent, its oldest part is summarised, in the background. No message waits for that, and a failure costs
 * nobody anything: the thread's next reply leads to another try. Two processes may summarise the same thread at once: the store
 * keeps one of their summaries.
 */
export interface Summaries {
  /** A thread was let go. Without a summary in the channel's settings, this costs one look at them. */
  released(thread: ReleasedThread): void;
  /** Ends what is under way; nothing is kept of it. */
  stop(): void;
}

export interface ReleasedThread {
  readonly uid: string;
  readonly slug: string;
  readonly run: RunRecord | null;
  readonly traceparent: string | null;
  readonly history: KnownHistory;
  /** What of the history is in other branches. */
  readonly hidden: Ranges;
}

/** One after the other: for each, a model may take half a minute. */
const AT_ONCE = 4;
/** Waiting ones; others are left until their thread's next reply. */
const MOST_WAITING = 1_000;
/** Summaries of one thread in a row: a conversation of before the setting may be long. */
const MOST_IN_A_ROW = 50;
/** A thread whose summary has failed is left alone for so long. */
const REST_MS = 600_000;
const MOST_RESTING = 10_000;

interface Wanted extends Pick<Summarizing, "slug" | "run" | "traceparent" | "summary"> {
  uid: string;
  to: number;
  hidden: Ranges;
}

export function createSummaries({
  store,
  agent,
  clock,
  log,
  observer,
  onKept,
}: Pick<ThreadDependencies, "store" | "agent" | "clock" | "log" | "observer"> & {
  /** A thread has this summary now. */
  onKept: (uid: string, summary: HistorySummary) => void;
}): Summaries {
  /** By uid, in the order in which they came. */
  const waiting = new Map<string, Wanted>();
  const working = new Set<string>();
  /** When a thread's summary failed. */
  const resting = new Map<string, number>();
  const stopping = new AbortController();

  function next(): void {
    for (const [uid, wanted] of waiting) {
      if (working.size >= AT_ONCE || stopping.signal.aborted) return;
      if (working.has(uid)) continue;
      waiting.delete(uid);
      working.add(uid);
      void carryOut(wanted).finally(() => {
        working.delete(uid);
        next();
      });
    }
  }

  async function carryOut(wanted: Wanted): Promise<void> {
    const { uid, slug } = wanted;
    try {
      observer.summarized?.({ slug, outcome: await summarize(wanted) });
    } catch (error) {
      if (stopping.signal.aborted) return;
      rest(uid);
      log.warn(
        { uid, slug, err: error },
        "cannot summarise a conversation: its oldest messages are left out",
      );
      observer.summarized?.({ slug, outcome: "failed" });
    }
  }

  async function summarize({ uid, to, hidden, ...asked }: Wanted): Promise<SummaryOutcome> {
    let { summary } = asked;
    for (let nth = 0; nth < MOST_IN_A_ROW && (summary?.upTo ?? 0) < to; nth += 1) {
      const after = summary?.upTo ?? 0;
      const { messages, upTo } = await messagesAfter(store, uid, { after, to, hidden });
      if (messages.length === 0) return "kept";
      const made = await agent.summarize?.({ ...asked, summary, messages }, stopping.signal);
      if (!made) return "capped";
      const kept: HistorySummary = { ...made, upTo, atMs: clock.now(), usage: sumOf(summary, made) };
      if (!(await store.keepHistorySummary({ uid, slug: asked.slug, summary: kept, after, hidden }))) {
        // Else this process would go on with the former one, and be overtaken after each reply.
        const other = await store.historySummary(uid);
        if (other) onKept(uid, other);
        return "overtaken";
      }
      onKept(uid, kept);
      summary = kept;
    }
    return "kept";
  }

  function rest(uid: string): void {
    resting.delete(uid);
    resting.set(uid, clock.elapsed());
    const [oldest] = resting.keys();
    if (resting.size > MOST_RESTING && oldest !== undefined) resting.delete(oldest);
  }

  function isResting(uid: string): boolean {
    const sinceMs = resting.get(uid);
    return sinceMs !== undefined && clock.elapsed() - sinceMs < REST_MS;
  }

  return {
    released({ uid, slug, run, traceparent, history, hidden }) {
      const to = run && agent.summarizesTo?.(slug, history);
      if (run === null || typeof to !== "number") return;
      if (waiting.size >= MOST_WAITING || working.has(uid) || isResting(uid)) return;
      const { userId, address } = run;
      const payer = address === undefined ? { userId } : { userId, address };
      waiting.set(uid, { uid, slug, run: payer, traceparent, summary: history.summary, to, hidden });
      next();
    },

    stop: () => stopping.abort(new Error("The service is stopping")),
  };
}

function sumOf(
  before: Pick<HistorySummary, "usage"> | null,
  { usage }: Pick<HistorySummary, "usage">,
): HistorySummary["usage"] {
  const former = before?.usage;
  if (!usage || !former) return usage ?? former ?? null;
  return { input: usage.input + former.input, output: usage.output + former.output };
}
