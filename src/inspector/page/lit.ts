import type { MoveOutline, Outline } from "../../../machines/draw/outline.ts";
import type { RunMove } from "../../domain/message.ts";

/** The lit parts of the chart: ids of its picture's states and moves. */
export interface Lit {
  /** The current state, and its parent states. */
  now: string[];
  /** The last moves, which led there. */
  taken: string[];
  /** The run's earlier states. */
  been: string[];
}

/** The chart after the first `count` moves of a run. */
export function litAfter(outline: Outline, path: readonly RunMove[], count: number): Lit {
  const last = path[count - 1];
  const before = path[count - 2]?.state ?? outline.initial;
  const state = last?.state ?? outline.initial;
  const now = withOuter(state);
  const been = path.slice(0, Math.max(0, count - 1)).flatMap((move) => withOuter(move.state));
  const id = (path: string) => `${outline.id}.${path}`;
  return {
    now: now.map(id),
    taken: (last ? movesOf(outline, before, last) : []).map((move) => id(move.id)),
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
function movesOf(outline: Outline, from: string, { event, state }: RunMove): MoveOutline[] {
  const candidates = outline.moves.filter(
    (move) => move.event === event && withOuter(from).includes(move.from) && move.to !== null,
  );
  const ends = (move: MoveOutline) => leafOf(outline, move.to ?? move.from);
  const direct = candidates.filter((move) => ends(move) === state);
  const nearest = direct.filter((move) => move.from === longest(direct.map((one) => one.from)));
  if (nearest.length > 0) return nearest;
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
  const find = (states: Outline["states"]): string | null => {
    for (const state of states) {
      if (state.path === path) return state.initial === null ? path : leafOf(outline, state.initial);
      const inner = find(state.states);
      if (inner !== null) return inner;
    }
    return null;
  };
  return find(outline.states) ?? path;
}
