import { threadAt } from "./store-steps.ts";
import { threadOf } from "./state.ts";
import type { Bounds, Commit, Fence, Request, Run, State } from "./state.ts";
import { fenceName, messageName, newFence, processAt, withTask } from "./steps.ts";

/** What a process reads, decides and sends: requests that stand on the thread as it is now. */

/** A message: asks for the thread, or for a place in its queue. */
export function asked(state: State, process: number, message: number, bounds: Bounds): State {
  const thread = threadOf(message, bounds);
  const { fence: holder, run } = threadAt(state.shard, thread);
  if (holder !== null) {
    const request: Request = { type: "wait", thread, message };
    return withTask(state, process, null, { type: "ask", request, barred: false });
  }
  return claimed(state, process, {
    why: "say",
    thread,
    run: { message, phase: "running" },
    ends: run?.message ?? null,
    holds: true,
    orWait: message,
  });
}

/** What the page answered, or that its call expired. */
export function resumed(state: State, process: number, thread: number, run: Run): State {
  return claimed(state, process, { why: "resume", thread, run: { ...run, phase: "resumed" }, holds: true });
}

/** The end of a run, whoever holds the thread. */
export function cancelled(state: State, process: number, thread: number, run: Run): State {
  const { fence } = threadAt(state.shard, thread);
  const ends = run.message;
  return claimed(state, process, { why: "cancel", thread, run: null, ends, holds: false, takesFrom: fence });
}

/** A thread whose holder is gone, with its run as it was saved last, or its queue. Null: another one holds it. */
export function takenUp(state: State, process: number, thread: number, from: Fence): State | null {
  const { fence, run } = threadAt(state.shard, thread);
  if (fence !== from) return null;
  return claimed(state, process, { why: "take up", thread, run, holds: isActive(run), takesFrom: from });
}

type Claim = Pick<Commit, "why" | "thread" | "run" | "holds"> &
  Partial<Pick<Commit, "takesFrom" | "ends" | "orWait">>;

function claimed(state: State, process: number, claim: Claim): State {
  const { fence, state: named } = newFence(state, process);
  const { rev, lastOp } = threadAt(state.shard, claim.thread);
  const { heard } = processAt(state, process);
  const request = commitOf({ fence, rev, claims: true, readOp: lastOp, heard, ...claim });
  return withTask(named, process, null, { type: "ask", request, barred: false });
}

/** What a holder saves after a commit that was done: its run's next step, the next message's beginning, or nothing. */
export function nextSave(done: Commit, rev: number, next: number | null, { course }: Bounds): Commit | null {
  const { thread, fence, run } = done;
  const held = { thread, fence, rev };
  if (run?.phase === "running" && course === "step") {
    return commitOf({ ...held, why: "step", run: { ...run, phase: "resumed" }, holds: true });
  }
  if (run?.phase === "running" && course === "page") {
    return commitOf({ ...held, why: "rest", run: { ...run, phase: "awaiting" }, holds: false });
  }
  if (run && isActive(run)) {
    return commitOf({ ...held, why: "end", run: null, ends: run.message, holds: false });
  }
  if (next === null) return null;
  // A message that waited ends the call that the page was asked for.
  const begun: Run = { message: next, phase: "running" };
  return commitOf({
    ...held,
    why: "begin",
    run: begun,
    starts: next,
    ends: run?.message ?? null,
    holds: true,
  });
}

/** Is there work to do for whoever holds the thread? */
function isActive(run: Run | null): boolean {
  return run !== null && run.phase !== "awaiting";
}

type Given = Pick<Commit, "thread" | "fence" | "rev" | "why" | "run" | "holds"> & Partial<Commit>;

function commitOf(given: Given): Commit {
  return {
    type: "commit",
    claims: false,
    takesFrom: null,
    readOp: null,
    ends: null,
    starts: null,
    orWait: null,
    heard: 0,
    ...given,
  };
}

export function requestName(request: Request): string {
  if (request.type === "wait") return `the wait of ${messageName(request.message)}`;
  const { fence, why, rev, takesFrom } = request;
  const from = takesFrom === null ? "" : ` from ${fenceName(takesFrom)}`;
  return `${fenceName(fence)}'s "${why}"${from} at revision ${rev}`;
}
