import type { Line } from "../../../machines/line.ts";
import type { MessageView, RunView, Sight, ThreadView } from "../views.ts";

/** Everything that the page knows about the watched thread. */
export interface Seen {
  thread: ThreadView | null;
  /** Oldest first. */
  runs: RunView[];
  messages: MessageView[];
  /** The last run's lines, adjacent deltas joined. */
  said: { runId: string; lines: Line[] };
  trouble: string | null;
  /** True once something is known about the thread. */
  looked: boolean;
}

export const nothingSeen: Seen = {
  thread: null,
  runs: [],
  messages: [],
  said: { runId: "", lines: [] },
  trouble: null,
  looked: false,
};

export function withSight(seen: Seen, sight: Sight): Seen {
  const clear = { ...seen, trouble: null, looked: true };
  switch (sight.type) {
    case "untouched":
      return { ...nothingSeen, looked: true };
    case "thread":
      return { ...clear, thread: sight.thread };
    case "runs":
      return { ...clear, runs: mergeRuns(seen.runs, sight.runs) };
    case "messages":
      return { ...clear, messages: sight.messages };
    case "said": {
      const before = sight.fresh || seen.said.runId !== sight.runId ? [] : seen.said.lines;
      return { ...clear, said: { runId: sight.runId, lines: sight.lines.reduce(joined, before) } };
    }
    case "trouble":
      return { ...seen, trouble: sight.message, looked: true };
    case "beat":
      return seen;
  }
}

function mergeRuns(known: readonly RunView[], told: readonly RunView[]): RunView[] {
  const byId = new Map([...known, ...told].map((run) => [run.runId, run]));
  return [...byId.values()].sort((a, b) => a.saidAtMs - b.saidAtMs);
}

function joined(lines: readonly Line[], line: Line): Line[] {
  const last = lines.at(-1);
  if (line.type !== "delta" || last?.type !== "delta") return [...lines, line];
  return [...lines.slice(0, -1), { type: "delta", text: last.text + line.text }];
}
