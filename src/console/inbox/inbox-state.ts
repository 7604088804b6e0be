import type { PlacedThread } from "../service/views.ts";

/** The inbox: conversations by their id, and which of them are new to its reader. */
export interface InboxState {
  threads: ReadonlyMap<string, PlacedThread>;
  /** Not seen since they came: told by the title. */
  fresh: ReadonlySet<string>;
}

export const NO_THREADS: InboxState = { threads: new Map(), fresh: new Set() };

/** A page holds this many of what rests; what is under way stays, whatever their number. */
const KEPT = 300;

/** What the lists answered. What the feed told meanwhile is newer. */
export function withListed(state: InboxState, listed: readonly PlacedThread[]): InboxState {
  const threads = new Map(state.threads);
  for (const thread of listed) {
    const known = threads.get(thread.id);
    if (known === undefined || known.updatedAt <= thread.updatedAt) threads.set(thread.id, thread);
  }
  return { ...state, threads: kept(threads) };
}

/** A change of which the feed told. */
export function withChange(state: InboxState, change: PlacedThread): InboxState {
  const before = state.threads.get(change.id);
  const threads = new Map(state.threads);
  threads.set(change.id, { ...before, ...change });
  const calls = callsForSomebody(before, change);
  return { threads: kept(threads), fresh: calls ? new Set([...state.fresh, change.id]) : state.fresh };
}

export function allSeen(state: InboxState): InboxState {
  return state.fresh.size === 0 ? state : { ...state, fresh: new Set() };
}

/** A conversation that was not there, or one that asks for a person. */
export function callsForSomebody(before: PlacedThread | undefined, { state }: PlacedThread): boolean {
  if (before === undefined) return state !== "idle";
  return state === "waiting_for_person" && before.state !== state;
}

/** Those of the states, the latest activity first. */
export function inStates(state: InboxState, states: readonly PlacedThread["state"][]): PlacedThread[] {
  return [...state.threads.values()]
    .filter((thread) => states.includes(thread.state))
    .sort((a, b) => b.updatedAt - a.updatedAt);
}

function kept(threads: Map<string, PlacedThread>): Map<string, PlacedThread> {
  const resting = [...threads.values()].filter(({ state }) => state === "idle");
  for (const { id } of resting.sort((a, b) => b.updatedAt - a.updatedAt).slice(KEPT)) threads.delete(id);
  return threads;
}
