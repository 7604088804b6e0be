import type { Line } from "../../../machines/line.ts";
import type { MessageView, RunSums, RunView, ThreadView } from "../views.ts";

/** The thread's current state, as last saved. */
export function Present({ thread }: { thread: ThreadView }) {
  const { sums } = thread;
  const facts: [string, string][] = [
    ["State", thread.state],
    ["Commits", String(thread.rev)],
    ["Held by", thread.holder === null ? "nobody" : `process ${thread.holder.slice(0, 8)}`],
    ["Waiting", String(thread.waiting)],
    ["Messages", String(thread.messages)],
    ...(sums === null ? [] : sumFacts(sums)),
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function sumFacts({ attempt, toolCalls, calls, deadlineMs }: RunSums): [string, string][] {
  const facts: [string, string][] = [
    ["Attempt", String(attempt)],
    ["Tool calls", String(toolCalls)],
  ];
  if (calls.length > 0) facts.push(["To answer", calls.join(", ")]);
  if (deadlineMs !== null) facts.push(["Expires", new Date(deadlineMs).toLocaleTimeString()]);
  return facts;
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
            <time dateTime={new Date(run.saidAtMs).toISOString()}>
              {new Date(run.saidAtMs).toLocaleString()}
            </time>
            <span class="outcome">{run.outcome ?? "active"}</span>
            <span class="count">{run.path.length}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}

/** The moves of a run; those after the shown place are marked as still to come. */
export function Moves({ run, count, onGo }: { run: RunView; count: number; onGo: (count: number) => void }) {
  return (
    <ol class="moves" aria-label="Moves of the run">
      {run.path.map((move, at) => (
        <li key={at}>
          <button
            type="button"
            class={at >= count ? "to-come" : ""}
            aria-current={at === count - 1 ? "step" : undefined}
            onClick={() => onGo(at + 1)}
          >
            <span class="after">{sinceText(move.atMs - run.saidAtMs)}</span>
            <span class="event">{move.event}</span>
            <span class="state">{move.state}</span>
            {move.said.length > 0 && <span class="line">{move.said.join(", ")}</span>}
          </button>
        </li>
      ))}
    </ol>
  );
}

/** The texts of the run: the visitor's message, and the reply's lines as they arrived, or the reply as stored. */
export function Talk({
  messages,
  lines,
}: {
  messages: readonly MessageView[];
  /** null: the run is over, and the history has its reply. */
  lines: readonly Line[] | null;
}) {
  const asked = messages.filter((message) => message.role === "user");
  const kept = messages.filter((message) => message.role === "assistant");
  return (
    <div class="talk" aria-label="What was said">
      {asked.map((message) => (
        <p key={message.id} class="asked">
          {message.content}
        </p>
      ))}
      {lines === null
        ? kept.map((message) => (
            <p key={message.id} class="replied">
              {message.content}
            </p>
          ))
        : lines.map((line, at) => <Said key={at} line={line} />)}
    </div>
  );
}

function Said({ line }: { line: Line }) {
  if (line.type === "delta") return <p class="replied">{line.text}</p>;
  return (
    <p class={`line ${line.type}`}>
      <span class="type">{line.type}</span> {wordsOf(line)}
    </p>
  );
}

function wordsOf(line: Exclude<Line, { type: "delta" }>): string {
  switch (line.type) {
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
