import type { ErrorLine } from "../../../machines/line.ts";
import type { RunRecord } from "../../domain/threads/message.ts";
import { replyMessage } from "../../domain/threads/past-run.ts";
import type { ThreadRecord } from "../../store.ts";
import { newRun } from "../hold/plan-change.ts";
import type { PlannedChange } from "../hold/plan-change.ts";

const LOST: ErrorLine = { type: "error", message: "Something went wrong on the server" };

/**
 * Ends the run of a thread whose snapshot or run record cannot be read: the run has failed, and its streamed text stays.
 * The chart cannot decide this, since its state is lost; the thread continues from the chart's initial state. Pure.
 */
export function endUnreadable(
  { run: read, tail, messageCount }: Pick<ThreadRecord, "run" | "tail" | "messageCount">,
  { newRunId, nowMs }: { newRunId: string; nowMs: number },
): PlannedChange {
  const run = read ?? substituteRun(tail.findLast(({ role }) => role === "user")?.runId ?? newRunId, nowMs);
  const move = { atMs: nowMs, event: "state.lost", state: "idle", said: [] };
  const nothing = { endedRun: null, begins: false, effects: [], move };
  if (run.outcome) return { ...nothing, run, messages: [], lines: [] };

  const outcome = "failed";
  const ended: RunRecord = { ...run, turns: [], terminal: LOST, outcome };
  const isKept = tail.some(({ runId, role }) => runId === run.runId && role === "assistant");
  const createdAtMs = Math.max(nowMs, tail.at(-1)?.createdAtMs ?? 0);
  const id = String(messageCount + 1);
  const reply = replyMessage({ run, outcome, terminal: LOST, id, createdAtMs });
  return { ...nothing, run: ended, messages: isKept ? [] : [reply], lines: [LOST] };
}

/** Stands in for a run whose record is lost. */
function substituteRun(runId: string, saidAtMs: number): RunRecord {
  const speaker = { displayName: null, page: null, customerContext: null };
  return newRun({ runId, api: "server", userId: "", speaker, saidAtMs });
}
