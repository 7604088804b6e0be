import { fieldsOf, isString } from "../service/fields.ts";
import type { JsonStorage } from "../service/json-storage.ts";
import type { ToolResultBody } from "../tools/tool-result.ts";

const PHASES = ["talking", "asking", "executing", "answered"] as const;

/**
 * Where the run of this tab stands, saved so that the page after a navigation can go on with it.
 *
 *   talking    the service is at work
 *   asking     a tool_call arrived; the visitor has not allowed it yet
 *   executing  the tool was started; its result is not known
 *   answered   the tool's result is known, and posted or about to be
 */
export interface SavedRun {
  phase: (typeof PHASES)[number];
  /** Names the run's lock: a duplicated tab has a copy of this record. */
  id: string;
  threadId: string;
  atMs: number;
  call?: { callId: string; tool: string };
  /** The page that the tool was started on. */
  from?: string;
  /** Set while answered. */
  body?: ToolResultBody | undefined;
}

/** A tool_call expires after this time (the service's default of TOOL_RESULT_TIMEOUT_SECONDS). */
const STALE_MS = 600_000;

export function newSavedRun(id: string, threadId: string): SavedRun {
  return { phase: "talking", id, threadId, atMs: Date.now() };
}

/** null where none is saved, or it is stale. */
export function readSavedRun(storage: JsonStorage, nowMs: number): SavedRun | null {
  const value = storage.read("run");
  return isSavedRun(value) && nowMs - value.atMs <= STALE_MS ? value : null;
}

function isSavedRun(value: unknown): value is SavedRun {
  const { phase, id, threadId, atMs, call, from = "", body } = fieldsOf(value);
  const { callId, tool } = fieldsOf(call);
  return (
    PHASES.some((known) => known === phase) &&
    typeof atMs === "number" &&
    [id, threadId, from].every(isString) &&
    (call === undefined || [callId, tool].every(isString)) &&
    (body === undefined || fieldsOf(body)["callId"] === callId)
  );
}
