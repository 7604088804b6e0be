import type { ThreadEvent } from "../../../machines/thread.ts";
import type { RunRecord, RunTrace } from "../../domain/threads/message.ts";
import type { ThreadState } from "../../store.ts";
import { traceFields } from "../../trace.ts";
import type { Segment, SegmentEnd, Tracing } from "../../trace.ts";
import type { ThreadSnapshot } from "../../charts/charts.ts";
import type { PlannedChange } from "./plan-change.ts";
import { threadStateOf } from "../thread-state.ts";

/**
 * The trace segments of a thread's runs: a segment lasts while a run is active in this process. It ends with a page call,
 * a person's takeover, or the end of the run or of the process; when the run continues, the next segment begins.
 */
export interface Segments {
  /** Adds to the change's run what a later segment links to; `segment`: the one that begins with the change, or null. */
  plan(transition: TracedTransition): { change: PlannedChange; segment: Segment | null };
  /** The change was saved: begins its segment, or ends the active one. */
  adopt(transition: Omit<TracedTransition, "traceparent">, segment: Segment | null): void;
  /** Ends the active segment without a save. */
  cut(end: "interrupted" | "deleted"): void;
  /** Of the active segment; null: none is. */
  traceparent(): string | null;
  /** Trace fields for log lines. */
  fields(): object;
}

export interface TracedTransition {
  event: ThreadEvent;
  /** The thread's run before the change, as far as it is known. */
  run: RunRecord | null;
  before: ThreadSnapshot;
  change: PlannedChange;
  next: ThreadSnapshot;
  /** The trace context of the request that brought the event. */
  traceparent: string | null;
}

export function createSegments(
  tracing: Tracing,
  { uid, slug, now }: { uid: string; slug: string; now: () => number },
): Segments {
  let active: Segment | null = null;

  function open(transition: TracedTransition, runId: string): { segment: Segment; trace: RunTrace } {
    const { event, run, change, traceparent } = transition;
    // A takeover has no request of its own: it belongs to the request that the run was serving.
    const parent = traceparent ?? (event.type === "run.taken" ? (run?.trace?.parent ?? null) : null);
    const isNext = !change.begins || run?.trace?.person === true;
    const after = isNext ? (run?.trace?.segment ?? null) : null;
    const segment = tracing.segment({ uid, slug, runId, parent, after });
    return { segment, trace: { segment: segment.traceparent, ...(parent === null ? {} : { parent }) } };
  }

  function tellPageTool({ event, run, before, next }: Omit<TracedTransition, "traceparent">): void {
    const call = run?.terminal;
    if (!isAwaiting(before) || !run?.trace || call?.type !== "tool_call") return;
    const isAnswer = event.type === "page.answered" && event.callId === call.callId;
    if (!isAnswer && isAwaiting(next)) return;
    tracing.pageTool({
      uid,
      tool: call.tool,
      callId: call.callId,
      arguments: call.arguments,
      traceparent: run.trace.segment,
      calledAtMs: run.path.at(-1)?.atMs ?? now(),
      endedAtMs: now(),
      result: isAnswer ? { text: event.text, isError: event.isError } : null,
      error: isAnswer ? null : (WITHOUT_RESULT[event.type] ?? "superseded"),
    });
  }

  return {
    plan(transition) {
      const { run, change, next } = transition;
      if (change.run && begins(transition)) {
        const { segment, trace } = open(transition, change.run.runId);
        return { change: { ...change, run: { ...change.run, trace } }, segment };
      }
      const known = change.run?.trace ?? run?.trace;
      if (!change.run || !known || !isWithPerson(next)) return { change, segment: null };
      // Messages to a person are runs of their own: they pass on what the next segment links to.
      const trace: RunTrace = { segment: known.segment, person: true };
      return { change: { ...change, run: { ...change.run, trace } }, segment: null };
    },

    adopt(transition, segment) {
      const { change, next } = transition;
      if (active && (segment || !isRunning(next))) {
        active.end(endOf(change.endedRun ?? change.run, next));
        active = null;
      }
      tellPageTool(transition);
      if (!segment) return;
      active = segment;
      segment.begin();
    },

    cut(end) {
      active?.end({ end, error: end });
      active = null;
    },

    traceparent: () => active?.traceparent ?? null,
    fields: () => (active ? traceFields(active.traceparent) : {}),
  };
}

/** Why a page's call has no result, by the event that ended it. */
const WITHOUT_RESULT: Readonly<Record<string, string>> = {
  "call.expired": "timeout",
  "user.said": "superseded",
  "run.cancelled": "cancelled",
};

/** The thread becomes active here: with a run's beginning, a page's result, or a takeover. */
function begins({ event, before, change, next }: TracedTransition): boolean {
  return isRunning(next) && (change.begins || event.type === "run.taken" || !isRunning(before));
}

function endOf(run: RunRecord | null, next: ThreadSnapshot): { end: SegmentEnd; error: string | null } {
  if (run?.outcome === "failed" || run?.outcome === "expired") {
    const code = run.terminal?.type === "error" ? run.terminal.code : undefined;
    return { end: run.outcome, error: code ?? "run_failed" };
  }
  if (isWithPerson(next)) return { end: "person", error: null };
  return { end: isAwaiting(next) ? "page" : (run?.outcome ?? "interrupted"), error: null };
}

const PERSON: ReadonlySet<ThreadState> = new Set(["waiting_for_person", "with_person"]);
const isRunning = ({ value }: ThreadSnapshot) => threadStateOf(value) === "running";
const isAwaiting = ({ value }: ThreadSnapshot) => threadStateOf(value) === "awaiting";
const isWithPerson = ({ value }: ThreadSnapshot) => PERSON.has(threadStateOf(value));
