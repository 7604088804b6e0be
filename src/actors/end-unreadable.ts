import type { ErrorLine } from "../../machines/line.ts";
import type { RunRecord } from "../domain/message.ts";
import { replyMessage } from "../domain/past-run.ts";
import type { ThreadRecord } from "../store.ts";
import { newRun } from "./plan-change.ts";
import type { PlannedChange } from "./plan-change.ts";

const LOST: ErrorLine = { type: "error", message: "Something went wrong on the server" };

/**
 * The end of a thread's run whose chart or record cannot be read: what was streamed stays, and the run has failed. The
 * chart is not asked, for it has no state to be asked in; the thread goes on from the chart's beginning. Pure.
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

/** Of a run whose record is gone. */
function substituteRun(runId: string, saidAtMs: number): RunRecord {
  const speaker = { displayName: null, page: null, customerContext: null };
  return newRun({ runId, api: "server", userId: "", speaker, saidAtMs });
}
