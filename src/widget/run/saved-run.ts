import type { JsonStorage } from "../service/json-storage.ts";
import type { ToolResultBody } from "../tools/tool-result.ts";

/**
 * Where the run of this tab stands, saved so that the page after a navigation can go on with it.
 *
 *   talking    the service is at work
 *   asking     a tool_call arrived; the visitor has not allowed it yet
 *   executing  the tool was started; its result is not known
 *   answered   the tool's result is known, and posted or about to be
 */
export interface SavedRun {
  phase: "talking" | "asking" | "executing" | "answered";
  /** Names the run's lock: a duplicated tab has a copy of this record. */
  id: string;
  threadId: string;
  atMs: number;
  call?: { callId: string; tool: string };
  /** The page that the tool was started on. */
  from?: string;
  body?: ToolResultBody;
}

/** A tool_call expires after this time (the service's default of TOOL_RESULT_TIMEOUT_SECONDS). */
const STALE_MS = 600_000;

export function newSavedRun(id: string, threadId: string): SavedRun {
  return { phase: "talking", id, threadId, atMs: Date.now() };
}

/** null where none is saved, or it is stale. */
export function readSavedRun(storage: JsonStorage, nowMs: number): SavedRun | null {
  const value = storage.read("run") as Partial<SavedRun> | null;
  if (typeof value?.id !== "string" || typeof value.atMs !== "number") return null;
  return nowMs - value.atMs > STALE_MS ? null : (value as SavedRun);
}
