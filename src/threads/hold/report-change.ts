import type { Person } from "../../../machines/person.ts";
import type { RunRecord } from "../../domain/threads/message.ts";
import type { AnswererChange, ThreadDependencies } from "../dependencies.ts";
import type { PlannedChange } from "./plan-change.ts";

/** Events of the chart that change who answers. */
const CHANGES: ReadonlyMap<string, AnswererChange> = new Map([
  ["agent.handedOff", "asked"],
  ["person.asked", "asked"],
  ["person.unasked", "cancelled"],
  ["wait.expired", "expired"],
  ["answer.expired", "unanswered"],
  ["person.queued", "queued"],
  ["person.took", "taken"],
  ["person.returned", "returned"],
  ["person.closed", "closed"],
]);

/** Reports a saved change to the observer: the move, and the runs that it ended. */
export function reportChange(
  { observer, clock }: Pick<ThreadDependencies, "observer" | "clock">,
  { uid, slug, rev, waited }: { uid: string; slug: string; rev: number; waited: Person | null },
  { run, endedRun, lines, move, messages }: PlannedChange,
): void {
  if (endedRun) reportEnd(endedRun);
  const said = run && messages.some(({ role }) => role === "user") ? { said: { userId: run.userId } } : {};
  observer.moved({ slug, uid, runId: run?.runId ?? "", rev, move, lines, ...said });
  if (run) reportEnd(run);
  const how = CHANGES.get(move.event);
  if (how) {
    const waitedMs = waited?.name === null ? Math.max(0, clock.now() - waited.sinceMs) : null;
    observer.answererChanged?.({ slug, uid, how, waitedMs });
  }

  function reportEnd({ runId, outcome, saidAtMs }: RunRecord): void {
    if (!outcome) return;
    const elapsedMs = Math.max(0, clock.now() - saidAtMs);
    observer.runEnded({ slug, runId, outcome, elapsedMs });
  }
}
