import type { ListedThread, ThreadEntry } from "../../../store/users.ts";
import { NewerRecord, UnreadableRecord } from "../../../store/unreadable.ts";
import { answererSince } from "../../answerer-since.ts";
import { openedSnapshot } from "../../content-keys/sealed-records.ts";
import type { Open } from "../../content-keys/sealed-records.ts";
import type { Engine } from "../../engine.ts";
import { isThreadState } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import { waitsForApproval } from "../../waits-for-approval.ts";

/** Adds what a list shows of a thread, read from the thread itself. `snapshot`: as stored, and only while it has no model's answers, or a call waits for approval. */
export async function glanceAt<E extends ThreadEntry>(engine: Engine, thread: E): Promise<E & ListedThread> {
  const header = tables.header.key(thread.uid);
  const last = { key: header, field: HEADER.messages };
  const reads = [
    { read: "fields", key: header, fields: [HEADER.state, HEADER.snapshot] },
    { read: "page", key: tables.messages.key(thread.uid), to: last, limit: 1, budget: 0 },
  ] as const;
  const [[state, snapshot], [entry]] = await engine.read(reads, { name: "glance" });
  const changedAtMs = answererSince(snapshot ?? null);
  const updatedAtMs = Math.max(entry ? timeOf(entry[1]) : 0, thread.createdAtMs, changedAtMs);
  const isTold = changedAtMs > 0 || waitsForApproval(snapshot ?? null);
  const told = typeof snapshot === "string" && isTold ? { snapshot } : {};
  return { ...thread, updatedAtMs, state: isThreadState(state) ? state : "idle", ...told };
}

/** One damaged thread does not fail a list; reading that thread reports it. */
export function openedGlance<T extends ListedThread>(thread: T, open: Open): T {
  if (thread.snapshot === undefined) return thread;
  try {
    return { ...thread, snapshot: openedSnapshot(thread.snapshot, open) };
  } catch (error) {
    if (!(error instanceof UnreadableRecord) || error instanceof NewerRecord) throw error;
    return thread;
  }
}

/** When a message was stored, without parsing it; 0 if it does not say. */
function timeOf(json: string): number {
  return Number(/"createdAtMs":(\d+)/.exec(json)?.[1] ?? 0);
}
