import type { MoveOutline, Outline, StateOutline } from "../../../machines/draw/outline.ts";
import type { RunView } from "../../operators/accounts/sight.ts";

/** What one event of a run did. States by their path, `running.thinking`. */
export interface Step {
  atMs: number;
  event: string;
  from: string;
  to: string;
  /** Types of the lines that were sent to the client. */
  lines: readonly string[];
  /** What the chart names to be saved, or done after the save. */
  effects: readonly string[];
  /** The chart's moves that led there. */
  moves: readonly MoveOutline[];
}

/** The lit parts of the chart: ids of its picture's states and moves. */
export interface Lit {
  /** The current state, and its parent states. */
  now: string[];
  /** The last moves, which led there. */
  taken: string[];
  /** The run's earlier states. */
  been: string[];
}

/** What each event of a run did. `runs`: all that are known, oldest first; a run begins where the one before it was left. */
export function stepsOf(outline: Outline, run: RunView, runs: readonly RunView[]): Step[] {
  const before = runs[runs.indexOf(run) - 1]?.path.at(-1)?.state ?? outline.initial;
  return run.path.map((move, at) => {
    const earlier = run.path[at - 1]?.state;
    // Between two runs the thread may have moved without any, back to where it begins.
    const from = earlier ?? (movesOf(outline, before, move).length > 0 ? before : outline.initial);
    const moves = movesOf(outline, from, move);
    const entered = moves.some(({ to }) => to !== null) ? (stateAt(outline, move.state)?.entry ?? []) : [];
    const effects = [...moves.flatMap(({ does }) => does), ...entered].filter(
      ({ kind }) => kind === "effect",
    );
    return {
      atMs: move.atMs,
      event: move.event,
      from,
      to: move.state,
      lines: move.said,
      effects: [...new Set(effects.map(({ name }) => name))],
      moves,
    };
  });
}

/** The chart after the first `count` steps of a run. */
export function litAfter(outline: Outline, steps: readonly Step[], count: number): Lit {
  const made = steps.slice(0, count);
  const last = made.at(-1);
  const now = withOuter(last?.to ?? steps[0]?.from ?? outline.initial);
  const been = made.slice(0, -1).flatMap(({ to }) => withOuter(to));
  const id = (path: string) => `${outline.id}.${path}`;
  return {
    now: now.map(id),
    taken: last?.moves.map((move) => id(move.id)) ?? [],
    been: [...new Set(been)].filter((one) => !now.includes(one)).map(id),
  };
}

/** The chart in a state without a known path. */
export function litIn(outline: Outline, state: string): Lit {
  return { now: withOuter(state).map((path) => `${outline.id}.${path}`), taken: [], been: [] };
}

/**
 * The moves of the chart that the event may have taken: those that end in the recorded state, or lead there through a
 * state that is left at once. Guards are not recorded: if two moves have the same ends, both are lit.
 */
function movesOf(
  outline: Outline,
  from: string,
  { event, state, said }: RunView["path"][number],
): MoveOutline[] {
  const candidates = outline.moves.filter(
    (move) => move.event === event && withOuter(from).includes(move.from) && move.to !== null,
  );
  const ends = (move: MoveOutline) => leafOf(outline, move.to ?? move.from);
  const direct = candidates.filter((move) => ends(move) === state);
  const nearest = direct.filter((move) => move.from === longest(direct.map((one) => one.from)));
  if (nearest.length > 0) return nearest;
  // It may have stayed, or come back through a state that is left at once, which sends further lines.
  const stays = outline.moves.find(
    (move) => move.event === event && move.from === from && from === state && move.to === null,
  );
  if (stays && said.length === stays.does.filter(({ kind }) => kind === "line").length) return [stays];
  for (const move of candidates) {
    const onward = outline.moves.filter(
      (next) => next.event === null && next.from === ends(move) && ends(next) === state,
    );
    if (onward.length > 0) return [move, ...onward];
  }
  return [];
}

/** For example `running.thinking` and `running`. */
function withOuter(path: string): string[] {
  const names = path.split(".");
  return names.map((_, at) => names.slice(0, at + 1).join("."));
}

function longest(texts: readonly string[]): string {
  return texts.reduce((a, b) => (b.length > a.length ? b : a), "");
}

/** The innermost state that the chart is in after it enters this one. */
function leafOf(outline: Outline, path: string): string {
  const initial = stateAt(outline, path)?.initial ?? null;
  return initial === null ? path : leafOf(outline, initial);
}

function stateAt({ states }: { states: readonly StateOutline[] }, path: string): StateOutline | null {
  for (const state of states) {
    const found = state.path === path ? state : stateAt(state, path);
    if (found !== null) return found;
  }
  return null;
}
