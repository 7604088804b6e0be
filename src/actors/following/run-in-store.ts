import type { ProgressLine, TerminalLine } from "../../../machines/line.ts";
import type { Store, ThreadRecord } from "../../store.ts";
import { INTERRUPTED } from "../interrupted.ts";

/** Where a run is, as the store has it. */
export type RunInStore =
  /** It ended its present stream, and this is all that it said. */
  | { type: "ended"; lines: readonly ProgressLine[]; terminal: TerminalLine }
  /** It ended, and another run came after it: what the history has of it. */
  | { type: "past"; lines: readonly ProgressLine[]; terminal: TerminalLine }
  /** It goes on, or waits for its turn, where `fence` holds the thread. */
  | { type: "held"; fence: string }
  /** It goes on, and nobody holds the thread at this moment. */
  | { type: "free" }
  /** Neither waiting nor begun nor ended: a store that has none of it has lost what it had acknowledged. */
  | { type: "lost" };

/** Of a thread's runs so many are looked through for one that is over, and so many messages for its reply. */
const LATEST_RUNS = 50;
const LATEST_MESSAGES = 100;

export async function findRun(
  store: Pick<Store, "runs" | "history">,
  record: ThreadRecord | null,
  { uid, runId }: { uid: string; runId: string },
): Promise<RunInStore> {
  const fence = record?.fence ?? null;
  if (record?.run?.runId === runId) {
    const { lines, terminal } = record.run;
    if (terminal) return { type: "ended", lines, terminal };
    return fence === null ? { type: "free" } : { type: "held", fence };
  }
  const runs = await store.runs(uid, LATEST_RUNS);
  const ended = runs.find((run) => run.runId === runId && run.outcome);
  // What waits is held.
  if (!ended) return fence === null ? { type: "lost" } : { type: "held", fence };

  const history = await store.history(uid, { limit: LATEST_MESSAGES, before: null });
  const reply = history.find((message) => message.runId === runId && message.role === "assistant");
  const lines: ProgressLine[] = (reply?.steps ?? []).map((step) => ({ type: "step", ...step }));
  if (reply) lines.push({ type: "delta", text: reply.content });
  return { type: "past", lines, terminal: ended.terminal ?? INTERRUPTED };
}
