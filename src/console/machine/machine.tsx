import { useMemo, useState } from "preact/hooks";
import type { Outline } from "../../../machines/draw/outline.ts";
import { Trouble } from "../parts/trouble.tsx";
import { useLoaded } from "../parts/use-loaded.ts";
import { Chart } from "./chart.tsx";
import { CopyCode } from "./copy-code.tsx";
import { litAfter, litIn, stepsOf } from "./lit.ts";
import { usePlayback } from "./playback.ts";
import { Events, Lines, Present, Runs } from "./run-panel.tsx";
import { RunSteps } from "./run-steps.tsx";
import type { Seen } from "./seen.ts";
import { sentenceOf } from "./words.ts";

/** What a conversation's machine is doing: in words, by event, and in its chart; live, or step by step through one of its runs. */
export function Machine({ seen }: { seen: Seen }) {
  // A cast: the file is written by the service, from the chart.
  const {
    value: outline,
    trouble,
    reload,
  } = useLoaded<Outline>(
    async (signal) => (await (await fetch("/console/thread.json", { signal })).json()) as Outline,
    [],
  );
  const playback = usePlayback(seen.runs);
  const { run, count, isLive, go, show } = playback;
  const state = seen.machine?.state ?? "idle";
  const steps = useMemo(
    () => (outline && run ? stepsOf(outline, run, seen.runs) : []),
    [outline, run, seen.runs],
  );
  const now = isLive ? state : (steps[count - 1]?.to ?? steps[0]?.from ?? state);
  const lit = useMemo(() => {
    if (outline === null) return { now: [], taken: [], been: [] };
    // A run may move before its path is known here: live, the saved state is the truth.
    const isKnown = !isLive || steps.at(-1)?.to === state;
    return isKnown ? litAfter(outline, steps, count) : litIn(outline, state);
  }, [outline, steps, count, isLive, state]);
  const [isWhole, setWhole] = useState(false);
  return (
    <div class="machine">
      <Trouble text={trouble ?? seen.trouble} onRetry={reload} />
      <p class="doing" role="status">
        <span class={isLive ? "flag state running" : "flag"}>{isLive ? "Now" : "Then"}</span>
        {sentenceOf(now)} <span class="mono quiet">{now}</span>
      </p>
      {seen.machine && <Present machine={seen.machine} />}
      {run && (
        <div class="run">
          <section class="events-part">
            <h2>What each event did</h2>
            <Events run={run} steps={steps} count={count} onGo={go} />
          </section>
          <section>
            <h2>Runs</h2>
            <Runs runs={seen.runs} shown={run.runId} onShow={show} />
          </section>
        </div>
      )}
      <RunSteps playback={playback} />
      <Chart lit={lit} label={`Statechart of the conversation; now ${now}`} isWhole={isWhole} />
      <div class="actions">
        <button type="button" class="button small" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
          The whole chart
        </button>
        <CopyCode />
        <p class="hint">
          White: states. Grey: events and their [guards],{" "}
          <span class="line">in green the lines sent to the client</span>,{" "}
          <span class="effect">in brown what is saved or done</span>.
        </p>
      </div>
      {run && seen.said.runId === run.runId && (
        <details>
          <summary>The lines of its stream</summary>
          <Lines lines={seen.said.lines} />
        </details>
      )}
    </div>
  );
}
