import type { DoneLine } from "../../machines/line.ts";
import { newId } from "../../src/domain/ids.ts";
import type { Message, RunRecord } from "../../src/domain/threads/message.ts";
import type { ThreadCommit } from "../../src/store.ts";
import { SLUG } from "./askings.ts";

/** The service's commits for a message, written by hand: the same records of the same size, in the same two steps. */
export interface Said {
  uid: string;
  userId: string;
  text: string;
  runId: string;
  fence: string;
  /** Of the thread as it was loaded. */
  rev: number;
  readOp: string | null;
  messageCount: number;
  atMs: number;
}

export interface Answered {
  /** Of the thread as the claim left it. */
  rev: number;
  text: string;
  done: DoneLine;
  atMs: number;
}

const USAGE = { input: 1_200, output: 210 };
const IDLE = JSON.stringify({ value: "idle", context: { version: 1, run: null, usage: USAGE } });
const RUNNING = JSON.stringify({
  value: { running: "thinking" },
  context: {
    version: 1,
    run: {
      id: newId(),
      saidAtMs: Date.now(),
      limits: { toolCalls: 50, toolResultMs: 600_000 },
      attempt: 1,
      misses: 0,
      calls: [],
      uses: {},
      toolCalls: 0,
      deadlineMs: null,
      hint: null,
      usage: null,
    },
    usage: USAGE,
  },
});

function stepOf({
  uid,
  fence,
  rev,
  readOp,
  atMs,
}: Said): Omit<ThreadCommit, "claims" | "holds" | "snapshot" | "state" | "run" | "messages"> {
  return {
    uid,
    slug: SLUG,
    opId: newId(),
    fence,
    takesFrom: null,
    rev,
    readOp,
    atMs,
    endedRun: null,
    startsWaiting: null,
    deadlineMs: null,
    orWait: null,
  };
}

function runOf({ runId, userId, atMs }: Said): RunRecord {
  return {
    runId,
    api: "widget",
    userId,
    speaker: { displayName: null, page: null, customerContext: null },
    saidAtMs: atMs,
    activeMs: 0,
    turns: [],
    lines: [],
    streamFrom: 0,
    terminal: null,
    answered: null,
    outcome: null,
    path: [{ atMs, event: "user.said", state: "running.thinking", said: [] }],
  };
}

/** The claim: the user's message, and the run that answers it. */
export function claimOf(said: Said): ThreadCommit {
  const { messageCount, text, runId, atMs } = said;
  const message: Message = {
    id: String(messageCount + 1),
    role: "user",
    content: text,
    createdAtMs: atMs,
    runId,
  };
  return {
    ...stepOf(said),
    claims: true,
    holds: true,
    snapshot: RUNNING,
    state: "running",
    run: runOf(said),
    messages: [message],
  };
}

/** The finish: the reply, and what replays its stream. */
export function finishOf(said: Said, answered: Answered): ThreadCommit {
  const { text, done, atMs, rev } = answered;
  const run = runOf(said);
  const message: Message = {
    id: String(said.messageCount + 2),
    role: "assistant",
    content: text,
    createdAtMs: atMs,
    runId: said.runId,
    outcome: "done",
  };
  return {
    ...stepOf({ ...said, rev, atMs }),
    claims: false,
    holds: false,
    snapshot: IDLE,
    state: "idle",
    run: {
      ...run,
      turns: [{ type: "assistant", text, calls: [] }],
      lines: [{ type: "delta", text }],
      terminal: done,
      outcome: "done",
      path: [...run.path, { atMs, event: "agent.finished", state: "idle", said: ["done"] }],
    },
    messages: [message],
  };
}

/** A thread with many messages, half of them the user's, in one step. For filling a store, not for measuring one. */
export function filledThread(thread: {
  uid: string;
  userId: string;
  rev: number;
  /** The operation of the step before. */
  readOp?: string;
  from: number;
  count: number;
  atMs?: number;
}): ThreadCommit {
  const { uid, userId, rev, readOp = null, from, count, atMs = Date.now() } = thread;
  const said = {
    uid,
    userId,
    rev,
    readOp,
    atMs,
    text: "",
    runId: newId(),
    fence: `filling:${newId()}`,
    messageCount: 0,
  };
  const messages = Array.from({ length: count }, (_, i): Message => {
    const isUsers = (from + i) % 2 === 0;
    return {
      id: String(from + i + 1),
      role: isUsers ? "user" : "assistant",
      content: (isUsers
        ? "Where is the red lamp that I ordered last week? Order number "
        : "It will be there soon. Number "
      ).padEnd(80, String(i)),
      createdAtMs: atMs,
      runId: said.runId,
    };
  });
  const finish = finishOf(said, {
    rev,
    text: "It will be there soon.",
    done: { type: "done", elapsedMs: 900 },
    atMs,
  });
  return { ...finish, claims: true, messages };
}
