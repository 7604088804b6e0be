import type { ComponentChildren } from "preact";
import type { Line } from "../../../machines/line.ts";
import type { MachineView, RunView } from "../../operators/accounts/sight.ts";
import { Fact } from "../parts/fact.tsx";
import { Time } from "../parts/times.tsx";
import type { Step } from "./lit.ts";

/** The machine as last saved: its snapshot in figures. */
export function Present({ machine }: { machine: MachineView }) {
  const { rev, holder, waiting, sums } = machine;
  return (
    <dl class="facts">
      <Fact name="Commits">{rev}</Fact>
      <Fact name="Held by">{holder === null ? "nobody" : `process ${holder.slice(0, 8)}`}</Fact>
      <Fact name="Waiting">{waiting}</Fact>
      {sums && (
        <>
          <Fact name="Attempt">{sums.attempt}</Fact>
          <Fact name="Tool calls">{sums.toolCalls}</Fact>
          <Fact name="To answer">{sums.calls.join(", ")}</Fact>
          <Fact name="Expires">{sums.deadlineMs === null ? null : <Time at={sums.deadlineMs} />}</Fact>
          <Fact name="Tokens">{sums.usage && `${sums.usage.input} in, ${sums.usage.output} out`}</Fact>
        </>
      )}
    </dl>
  );
}

/** The runs of a thread, newest first. */
export function Runs({
  runs,
  shown,
  onShow,
}: {
  runs: readonly RunView[];
  shown: string | null;
  onShow: (runId: string) => void;
}) {
  return (
    <ol class="runs" aria-label="Runs, newest first">
      {[...runs].reverse().map((run) => (
        <li key={run.runId}>
          <button
            type="button"
            class={run.outcome ?? "active"}
            aria-pressed={run.runId === shown}
            onClick={() => onShow(run.runId)}
          >
            <Time at={run.saidAtMs} style="long" />
            <span class="outcome">{run.outcome ?? "active"}</span>
            <span class="count">{run.path.length}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}

/** What each event of a run did; those after the shown place are marked as still to come. */
export function Events({
  run,
  steps,
  count,
  onGo,
}: {
  run: RunView;
  steps: readonly Step[];
  count: number;
  onGo: (count: number) => void;
}) {
  return (
    <ol class="events" aria-label="Events of the run">
      {steps.map(({ atMs, event, from, to, lines, effects }, at) => (
        <li key={at}>
          <button
            type="button"
            class={at >= count ? "to-come" : ""}
            aria-current={at === count - 1 ? "step" : undefined}
            onClick={() => onGo(at + 1)}
          >
            <span class="after">{sinceText(atMs - run.saidAtMs)}</span>
            <span class="event">{event}</span>
            <span class="way">
              {from} → {to}
            </span>
            <span class="line">{lines.join(", ")}</span>
            <span class="effect">{effects.join(", ")}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}

/** The lines of a run's stream, as its client got them. */
export function Lines({ lines }: { lines: readonly Line[] }) {
  return (
    <ol class="stream" aria-label="Lines of the stream">
      {lines.map((line, at) => (
        <li key={at} class={line.type}>
          <span class="type">{line.type}</span> {wordsOf(line)}
        </li>
      ))}
    </ol>
  );
}

function wordsOf(line: Line): ComponentChildren {
  switch (line.type) {
    case "delta":
      return line.text;
    case "step":
      return `${line.id} ${line.phase}${line.text === "" ? "" : `: ${line.text}`}`;
    case "tool_call":
      return `${line.tool} ${JSON.stringify(line.arguments)}`;
    case "done":
      return `after ${sinceText(line.elapsedMs)}${line.inputTokens === undefined ? "" : `, ${line.inputTokens} tokens in, ${line.outputTokens ?? 0} out`}`;
    case "error":
      return [line.code, line.message].filter((part) => part !== undefined).join(": ");
  }
}

function sinceText(ms: number): string {
  return ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
