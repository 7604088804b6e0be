import type { Shelf } from "../service/storage.ts";
import type { ResultBody } from "../tools/tool-result.ts";

/**
 * What a tab remembers of the run it started, so that the page after a navigation can go on with it.
 *
 *   talking    the service is at work
 *   asking     a tool_call came; the visitor has not allowed it yet
 *   executing  the tool was started; nothing is known of its end
 *   answered   the tool's result is known, and posted or about to be
 */
export interface RunRecord {
  phase: "talking" | "asking" | "executing" | "answered";
  /** Names the run among the tabs of an origin: a duplicated tab copies the record. */
  id: string;
  threadId: string;
  atMs: number;
  call?: { callId: string; tool: string };
  /** The page that the tool was started on. */
  from?: string;
  body?: ResultBody;
}

/** A tool_call waits so long for its result (TOOL_RESULT_TIMEOUT_SECONDS of the service, by default). */
const STALE_MS = 600_000;

export function newRecord(id: string, threadId: string): RunRecord {
  return { phase: "talking", id, threadId, atMs: Date.now() };
}

/** null where there is none, or it is too old to be of use. */
export function readRecord(shelf: Shelf, nowMs: number): RunRecord | null {
  const value = shelf.read("run") as Partial<RunRecord> | null;
  if (typeof value?.id !== "string" || typeof value.atMs !== "number") return null;
  return nowMs - value.atMs > STALE_MS ? null : (value as RunRecord);
}

/** A page that was left lets go of its locks when it is torn down, which a busy machine may take its time for. */
const LETTING_GO_MS = 5_000;

/**
 * Does the work as the one tab that holds this run. Waits a moment for a page that is just leaving; false where
 * another tab holds on to it: then the work was not done.
 */
export async function asHolder(name: string, work: () => Promise<void>): Promise<boolean> {
  const locks = (navigator as Partial<Navigator>).locks;
  let held = false;
  const hold = () => ((held = true), work());
  if (locks === undefined) {
    await hold();
    return true;
  }
  try {
    await locks.request(name, { signal: AbortSignal.timeout(LETTING_GO_MS) }, hold);
  } catch (error) {
    if (held) throw error;
  }
  return held;
}
