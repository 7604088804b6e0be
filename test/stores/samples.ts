import type { Channel } from "../../src/domain/channels/channel.ts";
import type { Message, RunRecord, UserMessage } from "../../src/domain/threads/message.ts";
import type { ThreadCommit } from "../../src/store.ts";

/** Records with every field filled in: a test names the fields that it is about. */
export const SLUG = "shop";
export const DAY = "2026-11-21";
export const BUDGET_CHARS = 1_000;
/** Of what the stores let expire: so long that no real time matters, on however slow a machine. */
export const LIFETIME_MS = 600_000;

const speaker = {
  displayName: null,
  page: "/cart?x=1",
  customerContext: { plan: "pro", seats: 3, trial: false },
};

export function sampleChannel(changes: Partial<Channel> = {}): Channel {
  return {
    slug: SLUG,
    kind: "web",
    publishableKey: "pk_shop",
    secretKeyHash: "0".repeat(64),
    allowedOrigins: ["https://shop.example"],
    enabled: true,
    accessMode: "open",
    agent: { instructions: "You help visitors of a shop." },
    ...changes,
  };
}

export function sampleRun(runId: string, changes: Partial<RunRecord> = {}): RunRecord {
  return {
    runId,
    api: "widget",
    userId: "u1",
    speaker,
    saidAtMs: 1_000,
    activeMs: 5,
    turns: [{ type: "assistant", text: "Hello", calls: [] }],
    lines: [{ type: "delta", text: "Grüße 👋 \u2028 \u0000" }],
    streamFrom: 0,
    terminal: null,
    answered: null,
    outcome: null,
    path: [{ atMs: 1_000, event: "user.said", state: "running.thinking", said: [] }],
    ...changes,
  };
}

export function sampleMessage(position: number, changes: Partial<Message> = {}): Message {
  return {
    id: String(position),
    role: "user",
    content: `text ${position}`,
    createdAtMs: 1_000 + position,
    runId: "r1",
    ...changes,
  };
}

export function sampleWaiting(runId: string): UserMessage {
  return { runId, api: "widget", text: `waiting ${runId}`, userId: "u1", speaker, saidAtMs: 2_000 };
}

/** A claim of a thread that nobody has touched; continue from there by naming what differs. */
export function sampleCommit(changes: Partial<ThreadCommit> & { opId: string; fence: string }): ThreadCommit {
  return {
    uid: "t1",
    slug: SLUG,
    claims: true,
    takesFrom: null,
    rev: 0,
    readOp: null,
    atMs: 1_000,
    snapshot: `snapshot of ${changes.opId}`,
    state: "running",
    run: sampleRun("r1"),
    endedRun: null,
    messages: [],
    startsWaiting: null,
    holds: true,
    deadlineMs: null,
    orWait: null,
    ...changes,
  };
}
