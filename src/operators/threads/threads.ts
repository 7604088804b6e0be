import type { RunSummary, ThreadStore } from "../../store.ts";
import { note } from "../acting.ts";
import type { Acting } from "../acting.ts";

/** Writes to the audit that somebody is about to read a thread's texts. */
export function noteReading(acting: Acting<unknown>, slug: string, uid: string): Promise<void> {
  return note(acting, { action: "thread.read", target: uid, slug });
}

/** The newest runs of a thread, oldest first. */
export async function readRuns(
  acting: Acting<Pick<ThreadStore, "runs">>,
  { slug, uid, limit }: { slug: string; uid: string; limit: number },
): Promise<ReturnType<typeof runView>[]> {
  await noteReading(acting, slug, uid);
  return (await acting.store.runs(uid, limit)).map(runView);
}

/** A run as operators see it: its outcome, and its last line. */
export function runView({ runId, saidAtMs, outcome, terminal, path }: RunSummary) {
  return { id: runId, saidAt: saidAtMs, outcome, terminal, path };
}
