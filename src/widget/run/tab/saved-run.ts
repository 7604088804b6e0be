import { fieldsOf, isString } from "../../service/fields.ts";
import type { JsonStorage } from "../../service/json-storage.ts";
import type { ToolResultBody } from "../../tools/tool-result.ts";
import { isOutgoingMessage } from "../messages/outgoing-message.ts";
import type { OutgoingMessage } from "../messages/outgoing-message.ts";

const PHASES = ["talking", "asking", "executing", "answered"] as const;

/**
 * The state of this tab's run, saved so that the page after a navigation can continue it.
 *
 *   talking    the message is being sent, or the service is at work
 *   asking     a tool_call arrived; the visitor has not allowed it yet
 *   executing  the tool was started; its result is not known
 *   answered   the tool's result is known, and posted or about to be
 */
export interface SavedRun {
  phase: (typeof PHASES)[number];
  /** The message that began the run. */
  message: OutgoingMessage;
  /** null: the message is the first one, and there is no thread yet. */
  threadId: string | null;
  /** The run's id; absent until the service has answered the message. */
  runId?: string;
  atMs: number;
  call?: { callId: string; tool: string };
  /** The page that the tool was started on. */
  from?: string;
  /** Set while answered. */
  body?: ToolResultBody | undefined;
}

/** A tool_call expires after this time (the service's default of TOOL_RESULT_TIMEOUT_SECONDS). */
const STALE_MS = 600_000;

export function newSavedRun(message: OutgoingMessage, threadId: string | null): SavedRun {
  return { phase: "talking", message, threadId, atMs: Date.now() };
}

/** null if none is saved. */
export function readSavedRun(storage: JsonStorage): SavedRun | null {
  const value = storage.read("run");
  return isSavedRun(value) ? value : null;
}

/** The run of this message is over for this tab; another one may be saved by now. */
export function dropSavedRun(storage: JsonStorage, { clientMessageId }: OutgoingMessage): void {
  if (readSavedRun(storage)?.message.clientMessageId === clientMessageId) storage.write("run", null);
}

export function isStale({ atMs }: SavedRun, nowMs: number): boolean {
  return nowMs - atMs > STALE_MS;
}

/** Held while a tab sends the message and follows its run: a duplicated tab has a copy of this record. */
export function lockNameOf(prefix: string, { clientMessageId }: OutgoingMessage): string {
  return `${prefix}run:${clientMessageId}`;
}

function isSavedRun(value: unknown): value is SavedRun {
  const { phase, message, threadId, runId = "", atMs, call, from = "", body } = fieldsOf(value);
  const { callId, tool } = fieldsOf(call);
  return (
    PHASES.some((known) => known === phase) &&
    isOutgoingMessage(message) &&
    typeof atMs === "number" &&
    (threadId === null || isString(threadId)) &&
    [runId, from].every(isString) &&
    (call === undefined || [callId, tool].every(isString)) &&
    (body === undefined || fieldsOf(body)["callId"] === callId)
  );
}
