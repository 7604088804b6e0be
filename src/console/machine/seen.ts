import type { Line } from "../../../machines/line.ts";
import type { MachineView, RunView, Sight } from "../../operators/accounts/sight.ts";

/** Everything that the console knows of a conversation's machine. */
export interface Seen {
  /** null: nothing was told of it yet. */
  machine: MachineView | null;
  /** Oldest first. */
  runs: RunView[];
  /** The last run's lines, adjacent deltas joined. */
  said: { runId: string; lines: Line[] };
  trouble: string | null;
}

export const nothingSeen: Seen = {
  machine: null,
  runs: [],
  said: { runId: "", lines: [] },
  trouble: null,
};

export function withSight(seen: Seen, sight: Sight): Seen {
  switch (sight.type) {
    case "untouched":
      return nothingSeen;
    case "thread":
      return { ...seen, trouble: null, machine: sight.thread };
    case "runs":
      return { ...seen, trouble: null, runs: mergeRuns(seen.runs, sight.runs) };
    case "said": {
      const before = sight.fresh || seen.said.runId !== sight.runId ? [] : seen.said.lines;
      const said = { runId: sight.runId, lines: sight.lines.reduce(joined, before) };
      return { ...seen, trouble: null, said };
    }
    case "trouble":
      return { ...seen, trouble: sight.message };
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
