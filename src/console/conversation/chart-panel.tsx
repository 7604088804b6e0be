import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Outline } from "../../../machines/draw/outline.ts";
import { Chart } from "../../inspector/page/chart.tsx";
import { litAfter, litIn } from "../../inspector/page/lit.ts";
import { useReplay } from "../../inspector/page/replay.ts";
import { Moves, Runs } from "../../inspector/page/run-panel.tsx";
import { RunSteps } from "../../inspector/page/run-steps.tsx";
import type { Seen } from "../../inspector/page/seen.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { Trouble } from "../parts/trouble.tsx";

/** The conversation's state in its chart: live, or step by step through one of its runs. */
export function ChartPanel({ id, seen }: { id: string; seen: Seen }) {
  // A cast: the file is written by the service, from the chart.
  const outline = useLoaded<Outline>(
    async (signal) => (await (await fetch("/console/thread.json", { signal })).json()) as Outline,
    [],
  );
  const replay = useReplay(id, seen.runs);
  const { run, count, isLive, go, show } = replay;
  const state = seen.thread?.state ?? "idle";
  const lit = useMemo(() => {
    if (outline.value === null) return { now: [], taken: [], been: [] };
    // A run may move before its path is known here: live, the saved state is the truth.
    const followsRun = run && (!isLive || run.path.at(-1)?.state === state);
    return followsRun ? litAfter(outline.value, run.path, count) : litIn(outline.value, state);
  }, [outline.value, run, count, isLive, state]);
  const now = run && !isLive ? (run.path[count - 1]?.state ?? "idle") : state;
  const panel = useRef<HTMLDivElement>(null);
  const [isLarge, setLarge] = useState(false);
  useEffect(() => showPresent(panel.current), [lit, isLarge]);
  return (
    <div class={isLarge ? "chart-panel large" : "chart-panel"} ref={panel}>
      <Trouble text={outline.trouble} onRetry={outline.reload} />
      <div class="now">
        <p role="status">
          {isLive ? "Now" : "Then"}: <span class="mono">{now}</span>
        </p>
        <button type="button" class="button small" aria-pressed={isLarge} onClick={() => setLarge(!isLarge)}>
          Larger
        </button>
      </div>
      <Chart lit={lit} label={`Statechart of the conversation; now ${now}`} picture="/console/thread.svg" />
      <RunSteps replay={replay} />
      {seen.runs.length > 0 && (
        <>
          <h2>Runs</h2>
          <Runs runs={seen.runs} shown={run?.runId ?? null} onShow={show} />
        </>
      )}
      {run && (
        <details>
          <summary>Moves of the run</summary>
          <Moves run={run} count={count} onGo={go} />
        </details>
      )}
    </div>
  );
}

/** Centers the current state if the chart is larger than the panel. */
function showPresent(panel: HTMLElement | null): void {
  const chart = panel?.querySelector(".chart");
  const present = chart?.querySelector(".node.now");
  if (!chart || !present) return;
  const [place, state] = [chart.getBoundingClientRect(), present.getBoundingClientRect()];
  chart.scrollLeft += state.left + state.width / 2 - place.left - place.width / 2;
  chart.scrollTop += state.top + state.height / 2 - place.top - place.height / 2;
}
