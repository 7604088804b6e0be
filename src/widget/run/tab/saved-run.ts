import type { OwnRun } from "../../../../machines/tab-events.ts";
import { fieldsOf, isString } from "../../service/fields.ts";
import type { JsonStorage } from "../../service/json-storage.ts";
import { isOutgoingMessage } from "../messages/outgoing-message.ts";
import type { OutgoingMessage } from "../messages/outgoing-message.ts";

const PHASES = ["talking", "asking", "executing", "answered"] as const;

/** The run that this tab began, saved so that the page after a navigation can continue it. */
export interface SavedRun extends OwnRun {
  message: OutgoingMessage;
  atMs: number;
}

export function newSavedRun(message: OutgoingMessage, threadId: string | null): SavedRun {
  return { phase: "talking", message, threadId, atMs: Date.now() };
}

/** null if none is saved. */
export function readSavedRun(storage: JsonStorage): SavedRun | null {
  const value = storage.read("run");
  return isSavedRun(value) ? value : null;
}

/** The run of this message is over for this tab; a page that heard of it may have begun another one, which stays saved. */
export function dropSavedRun(storage: JsonStorage, { clientMessageId }: OutgoingMessage): void {
  if (readSavedRun(storage)?.message.clientMessageId === clientMessageId) storage.write("run", null);
}

/** Held while a tab sends the message and follows its run: a duplicated tab has a copy of this record. */
export function lockNameOf(prefix: string, { clientMessageId }: OwnRun["message"]): string {
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
