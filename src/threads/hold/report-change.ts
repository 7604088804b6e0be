import type { Person } from "../../../machines/person.ts";
import type { AnswererChange } from "../../domain/threads/answerer-change.ts";
import type { RunRecord } from "../../domain/threads/message.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { PlannedChange } from "./plan-change.ts";

/** The ends of a hand-off by the person who had it. */
const ENDS: ReadonlySet<AnswererChange["how"]> = new Set(["returned", "closed"]);

/** Reports a saved change to the observer: the move, and the runs that it ended. */
export function reportChange(
  { observer, clock }: Pick<ThreadDependencies, "observer" | "clock">,
  { uid, slug, rev }: { uid: string; slug: string; rev: number },
  { run, endedRun, lines, move, messages }: PlannedChange,
  /** With the person before it. */
  answerer: (AnswererChange & { before: Person | null }) | null,
): void {
  if (endedRun) reportEnd(endedRun);
  const said = run && messages.some(({ role }) => role === "user") ? { said: { userId: run.userId } } : {};
  observer.moved({ slug, uid, runId: run?.runId ?? "", rev, move, lines, ...said });
  if (run) reportEnd(run);
  if (answerer) {
    const { before, atMs, how, by, queue } = answerer;
    const since = (fromMs: number) => Math.max(0, atMs - fromMs);
    observer.answererChanged?.({
      slug,
      uid,
      how,
      ...(by === undefined ? {} : { by }),
      ...(queue === undefined ? {} : { queue }),
      waitedMs: before?.name === null ? since(before.sinceMs) : null,
      tookMs: before && ENDS.has(how) ? since(before.beganMs ?? before.sinceMs) : null,
    });
  }

  function reportEnd({ runId, outcome, saidAtMs }: RunRecord): void {
    if (!outcome) return;
    const elapsedMs = Math.max(0, clock.now() - saidAtMs);
    observer.runEnded({ slug, runId, outcome, elapsedMs });
  }
}
