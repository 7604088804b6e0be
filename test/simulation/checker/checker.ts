import type { Happening } from "../happening.ts";
import type { Trace } from "../trace.ts";
import { watchAged } from "./aged.ts";
import { watchAnswers } from "./answers.ts";
import { watchAskedModels } from "./asked-models.ts";
import { watchCancelled } from "./cancels.ts";
import { watchDeletions } from "./deletions.ts";
import { createLedger } from "./ledger.ts";
import { watchPeople } from "./people.ts";
import { watchReads } from "./reads.ts";
import { watchRuns } from "./runs.ts";
import { watchSaid } from "./said.ts";
import { watchStreams } from "./streams.ts";
import { createThoughts } from "./thoughts.ts";
import type { Watch, Watcher } from "./watcher.ts";

/** An invariant that did not hold. */
export interface Violation {
  invariant: string;
  /** The thread that it is about, by its name in the trace. */
  thread: string | null;
  text: string;
  atMs: number;
  step: number;
}

/** Holds every invariant against everything that happens. */
export interface Checker {
  /** The first one that was found. */
  readonly violation: Violation | null;
  see(happening: Happening): void;
  /** Everything should be over by now. */
  atRest(): void;
  /** No thread has a run, a message that waits, or a holder. */
  isAtRest(): boolean;
  /** As an operator would see it. */
  epochOf(uid: string): number;
  userOf(externalId: string): string | undefined;
  report: Watch["report"];
}

/** `known`: invariants that are known to be broken, and are passed over. */
export function createChecker(world: Watch["world"] & { trace: Trace }, known: readonly string[]): Checker {
  const { time, trace } = world;
  let violation: Violation | null = null;

  function report(invariant: string, uid: string | null, text: string): void {
    if (known.includes(invariant)) return;
    const thread = uid === null ? null : trace.name("t", uid);
    violation ??= { invariant, thread, text, atMs: time.nowMs, step: time.steps };
  }

  const ledger = createLedger(
    () => time.nowMs,
    (uid, { invariant, text }) =>
      invariant === "deleted-stays-deleted"
        ? report(invariant, uid, text)
        : reportOther(invariant, uid, text),
  );
  const deletions = watchDeletions({ ledger, world, report });
  /** Of a thread that somebody deletes nothing is promised but that it is deleted. */
  const reportOther: Watch["report"] = (invariant, uid, text) => {
    if (uid === null || !deletions.isAsked(uid)) report(invariant, uid, text);
  };
  const aged = watchAged({ ledger, deletions, world, report });
  const watch: Watch = { ledger, deletions, world, report: reportOther };
  const watchers: Watcher[] = [
    deletions,
    aged,
    watchSaid(watch),
    watchRuns(watch),
    watchCancelled(watch),
    watchStreams(watch, createThoughts()),
    watchReads(watch),
    watchAskedModels(watch),
    watchAnswers(watch),
    watchPeople(watch),
  ];

  return {
    get violation() {
      return violation;
    },
    see(happening) {
      ledger.see(happening);
      for (const watcher of watchers) watcher.see(happening);
    },
    atRest() {
      for (const { atRest } of watchers) atRest?.();
    },
    isAtRest: () =>
      deletions.areOver() &&
      aged.isOver() &&
      ledger.threads().every((uid) => {
        const { active, queue, fence, answerer } = ledger.truth(uid);
        return !active && queue.length === 0 && fence === null && answerer.deadlineMs === null;
      }),
    userOf: (externalId) => deletions.userOf(externalId),
    epochOf: (uid) => ledger.truth(uid).answerer.epoch,
    report,
  };
}
