import { threadHost } from "../../charts/charts.ts";
import type { AnswererChange } from "../../domain/threads/answerer-change.ts";
import { nameOfState } from "../../threads/thread-state.ts";
import { UnreadableRecord } from "../../store.ts";

export type ReadThread = ReturnType<typeof threadHost.thaw>;

/** A thread's snapshot, read once for all views of it; null: there is none, or it cannot be read. */
export function readThread(snapshot: string | undefined): ReadThread | null {
  try {
    return snapshot === undefined ? null : threadHost.thaw(snapshot);
  } catch (error) {
    // A list shows what it can read.
    if (error instanceof UnreadableRecord) return null;
    throw error;
  }
}

/** Who answers in a thread, as operators see it: without texts of the conversation. */
export interface AnswererView {
  /** Counts the changes of who answers; an operator's action must send it. */
  epoch: number;
  handoff?: {
    /** Who asked for a person; null: nobody did. */
    askedBy: "model" | "visitor" | "transport" | null;
    /** Since when the thread waits; only while it does. */
    waitingSince?: number;
    /** The operator who has it; only while one does. */
    with?: string;
    /** When the visitor has waited too long for that operator's answer; only while they wait for one. */
    answerBy?: number;
    /** What visitors call that operator; absent: by name. */
    shownAs?: string;
    reason?: string;
    summary?: string;
  };
}

/** `seesText`: include the reason and the model's summary. */
export function answererView(thread: ReadThread | null, { seesText = false } = {}): AnswererView {
  if (!thread) return { epoch: 0 };
  const { epoch, person } = thread.context;
  if (!person) return { epoch };
  const { askedBy, name, shownAs, sinceMs, deadlineMs, reason, summary } = person;
  return {
    epoch,
    handoff: {
      askedBy,
      ...(name === null ? { waitingSince: sinceMs } : { with: name }),
      ...(name !== null && deadlineMs !== null ? { answerBy: deadlineMs } : {}),
      ...(shownAs === undefined ? {} : { shownAs }),
      ...(seesText && reason !== null ? { reason } : {}),
      ...(seesText && summary !== null ? { summary } : {}),
    },
  };
}

/** A change of who answers, for who may read a thread's texts. */
export function answererChangeView({ epoch: _, atMs, ...change }: AnswererChange) {
  return { at: atMs, ...change };
}

/** Who must approve a call before the thread's run goes on; empty: nobody. */
export function approvalView(thread: ReadThread | null): { approval?: "visitor" | "operator" } {
  if (!thread || nameOfState(thread.value) !== "running.awaitingApproval") return {};
  return { approval: thread.context.run?.calls[0]?.confirm ?? "visitor" };
}

/** Whose a thread is, for who may read its texts. */
export function assignmentView(thread: ReadThread | null): { queue?: string; assignedTo?: string } {
  const { queue, name = null } = thread?.context.person ?? {};
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(name === null ? {} : { assignedTo: name }),
  };
}
