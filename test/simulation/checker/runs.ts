import type { Call } from "../../../machines/run.ts";
import type { RunRecord } from "../../../src/domain/threads/message.ts";
import { CONFIRMED_TOOL } from "../instance/agent.ts";
import { RUN_TIMEOUT_MS } from "../instance/instance.ts";
import type { Watch, Watcher } from "./watcher.ts";

/**
 * saved-before-performed: a model or a tool is called by a process that has saved the step that asks for it.
 * called-once: a tool that may not be repeated is called once. called-with-approval: one that needs it is called when that is stored.
 * time-outs-are-due: no run ends for its time before its time.
 * everything-ends: at rest no thread has a run, a message that waits, or a holder.
 */
export function watchRuns({ ledger, report, world }: Watch): Watcher {
  const called = new Map<string, number>();

  function checkAsked(by: string, runId: string): void {
    if (ledger.hasSaved(by, runId)) return;
    const text = `${by} asks a model for ${runId}, of which it has saved nothing`;
    report("saved-before-performed", ledger.threadOf(runId) ?? null, text);
  }

  function checkCalled(by: string, { callId, repeatable, tool }: Call): void {
    const { uid, runId } = ledger.ofCall(callId) ?? { uid: null, runId: "" };
    if (uid === null || !ledger.hasSaved(by, runId)) {
      return report("saved-before-performed", uid, `${by} makes ${callId}, which it has not saved`);
    }
    const decided = ledger.decisionOn(callId);
    if (tool === CONFIRMED_TOOL && decided?.approved !== true)
      report("called-with-approval", uid, `${by} makes ${callId}, which nobody has approved`);
    const calledAtMs = called.get(callId);
    called.set(callId, calledAtMs ?? world.time.nowMs);
    // The save that led to the call may be lost before the call is made: whoever is asked once more makes it again.
    const sinceMs = Math.min(calledAtMs ?? Infinity, decided?.savedAtMs ?? Infinity);
    if (repeatable || calledAtMs === undefined || ledger.isDisturbed(uid, sinceMs)) return;
    report("called-once", uid, `${by} makes ${callId} again`);
  }

  function checkTime(uid: string, { terminal, activeMs, runId }: RunRecord): void {
    const isForTime = terminal?.type === "error" && terminal.message === "The run took longer than it may";
    if (!isForTime || activeMs >= RUN_TIMEOUT_MS - 10) return;
    report("time-outs-are-due", uid, `${runId} ends for its time after ${activeMs} ms`);
  }

  return {
    see(happening) {
      if (happening.type === "model asked") checkAsked(happening.by, happening.turn.run.runId);
      if (happening.type === "tool called") checkCalled(happening.by, happening.call);
      if (happening.type === "committed") {
        if (happening.commit.run) checkTime(happening.uid, happening.commit.run);
      }
    },

    atRest() {
      for (const uid of ledger.threads()) {
        const { active, queue, fence } = ledger.truth(uid);
        if (active) report("everything-ends", uid, `${active.runId} (“${active.text}”) has not ended`);
        else if (queue[0]) report("everything-ends", uid, `“${queue[0].text}” waits`);
        else if (fence !== null) report("everything-ends", uid, `${fence} holds the thread`);
      }
    },
  };
}
