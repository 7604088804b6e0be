import type { RunRecord } from "../domain/message.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import type { PlannedChange } from "./plan-change.ts";

/** Tells the observer of a change that was saved: the move, and the runs that it ended. */
export function reportChange(
  { observer, clock }: Pick<ThreadDependencies, "observer" | "clock">,
  { uid, slug, rev }: { uid: string; slug: string; rev: number },
  { run, endedRun, lines, messages }: PlannedChange,
): void {
  const move = run.path.at(-1);
  if (endedRun) reportEnd(endedRun);
  const said = messages.some(({ role }) => role === "user") ? { said: { userId: run.userId } } : {};
  if (move) observer.moved({ slug, uid, runId: run.runId, rev, move, lines, ...said });
  reportEnd(run);

  function reportEnd({ runId, outcome, saidAtMs }: RunRecord): void {
    if (!outcome) return;
    const elapsedMs = Math.max(0, clock.now() - saidAtMs);
    observer.runEnded({ slug, runId, outcome, elapsedMs });
  }
}
