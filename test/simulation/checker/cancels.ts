import type { Cancel } from "../happening.ts";
import type { RunTruth } from "./thread-truth.ts";
import type { Watch, Watcher } from "./watcher.ts";

/**
 * a-cancel-ends-what-it-named: each cancelled run has a cancel of its own, which could see it when it chose its run.
 * a-cancel-is-obeyed: when it is answered, the run that went on when it began has ended.
 */
export function watchCancelled({ ledger, report, world }: Watch): Watcher {
  const cancels = new Map<string, Cancel[]>();
  const seen = new Map<Cancel, RunTruth | null>();

  function couldName({ begunAtMs, reads, readAtMs }: Cancel, run: RunTruth): boolean {
    const choseAtMs = reads ? (readAtMs ?? Infinity) : begunAtMs;
    return run.begunAtMs <= choseAtMs && (run.endedAtMs ?? Infinity) >= begunAtMs;
  }

  /** Gives each cancelled run a cancel, each cancel at most one run. */
  function checkNamed(uid: string): void {
    const known = cancels.get(uid) ?? [];
    const taken = new Map<Cancel, RunTruth>();
    const cancelled = [...ledger.truth(uid).runs.values()].filter(({ outcome }) => outcome === "cancelled");
    for (const run of cancelled) {
      if (assign(run, known, taken, new Set()) || ledger.isDisturbed(uid, run.begunAtMs)) continue;
      report("a-cancel-ends-what-it-named", uid, `no cancel named ${run.runId} (“${run.text}”)`);
    }
  }

  function assign(run: RunTruth, known: Cancel[], taken: Map<Cancel, RunTruth>, tried: Set<Cancel>): boolean {
    for (const cancel of known) {
      if (tried.has(cancel) || !couldName(cancel, run)) continue;
      tried.add(cancel);
      const other = taken.get(cancel);
      if (!other || assign(other, known, taken, tried)) {
        taken.set(cancel, run);
        return true;
      }
    }
    return false;
  }

  function checkObeyed(cancel: Cancel): void {
    const { uid, by, begunAtMs } = cancel;
    const run = seen.get(cancel);
    if (!run || ledger.truth(uid).active?.runId !== run.runId) return;
    const isExcused = ledger.isCut(uid, begunAtMs) || world.cluster.ofThread(uid).wasAstray(by, begunAtMs);
    if (!isExcused) report("a-cancel-is-obeyed", uid, `${run.runId} goes on after the cancel by ${by}`);
  }

  return {
    see(happening) {
      if (happening.type === "cancel begun") {
        const { cancel } = happening;
        cancels.set(cancel.uid, [...(cancels.get(cancel.uid) ?? []), cancel]);
        seen.set(cancel, ledger.truth(cancel.uid).active);
      }
      if (happening.type === "cancel ended") checkObeyed(happening.cancel);
      if (happening.type === "committed" && happening.commit.run?.outcome === "cancelled") {
        checkNamed(happening.uid);
      }
    },
  };
}
