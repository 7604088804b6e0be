import type { Round, Told } from "./cluster-round.ts";

type Played = Omit<Round, "workload">;

/** Rounds told by their nemesis, as a table in Markdown. Times are the longest of all rounds, in seconds. */
export function roundTable(rounds: readonly Played[]): string {
  const names = [...new Set(rounds.map(({ nemesis }) => nemesis))];
  const rows = names.map((name) =>
    row(
      name,
      rounds.filter(({ nemesis }) => nemesis === name),
    ),
  );
  return [...HEAD, ...rows, row("all", rounds)].join("\n");
}

const HEAD = [
  "| nemesis | times | acknowledged | lost | doubled | other faults | 503: hit | 503: others | no answer: hit | no answer: others | longest: hit | longest: others | cluster away | served again after | stood still |",
  "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
];

function row(name: string, rounds: readonly Played[]): string {
  const faults = rounds.flatMap((round) => round.faults);
  const lost = countOf(faults, "lost: ");
  const doubled = countOf(faults, "doubled: ");
  const sum = (side: "hit" | "others", what: keyof Told) =>
    rounds.reduce((total, round) => total + round[side][what], 0);
  const longest = (times: readonly number[]) => (Math.max(0, ...times) / 1_000).toFixed(1);
  const served = rounds.flatMap(({ servedAfterMs }) => (servedAfterMs === null ? [] : [servedAfterMs]));
  const cells = [
    name,
    rounds.length,
    sum("hit", "acknowledged") + sum("others", "acknowledged"),
    lost,
    doubled,
    faults.length - lost - doubled,
    sum("hit", "refused"),
    sum("others", "refused"),
    sum("hit", "unanswered"),
    sum("others", "unanswered"),
    longest(rounds.map(({ hit }) => hit.longestMs)),
    longest(rounds.map(({ others }) => others.longestMs)),
    longest(rounds.map(({ awayMs }) => awayMs)),
    served.length === 0 ? "–" : longest(served),
    longest(rounds.map(({ stoodStillMs }) => stoodStillMs)),
  ];
  return `| ${cells.join(" | ")} |`;
}

function countOf(faults: readonly string[], kind: string): number {
  return faults.filter((fault) => fault.startsWith(kind)).length;
}
