import type { PlacedThread } from "../service/views.ts";

/** Conversations by their id. */
export type InboxThreads = ReadonlyMap<string, PlacedThread>;

export const NO_THREADS: InboxThreads = new Map();

/** So many of what rests are kept; what is under way stays, whatever their number. */
const KEPT = 300;

/** What the lists answered. What was told meanwhile is newer. */
export function withListed(threads: InboxThreads, listed: readonly PlacedThread[]): InboxThreads {
  const all = new Map(threads);
  for (const thread of listed) {
    const known = all.get(thread.id);
    if (known === undefined || known.updatedAt <= thread.updatedAt) all.set(thread.id, thread);
  }
  return kept(all);
}

export function withChange(threads: InboxThreads, change: PlacedThread): InboxThreads {
  return kept(new Map(threads).set(change.id, { ...threads.get(change.id), ...change }));
}

/** Those of the states, the latest activity first; who waits for a person comes before who began to wait later. */
export function inStates(threads: InboxThreads, states: readonly PlacedThread["state"][]): PlacedThread[] {
  return [...threads.values()]
    .filter((thread) => states.includes(thread.state))
    .sort((a, b) => (waitingSince(a) ?? 0) - (waitingSince(b) ?? 0) || b.updatedAt - a.updatedAt);
}

function waitingSince({ state, handoff }: PlacedThread): number | undefined {
  return state === "waiting_for_person" ? handoff?.waitingSince : undefined;
}

function kept(threads: Map<string, PlacedThread>): Map<string, PlacedThread> {
  for (const { id } of inStates(threads, ["idle"]).slice(KEPT)) threads.delete(id);
  return threads;
}

/**
 * Does it call for somebody? A conversation that began after the console was opened, and one that asks for a person.
 * `waiting`: those that asked already.
 */
export function isNews(
  { id, state, createdAt }: PlacedThread,
  { sinceMs, known }: { sinceMs: number; known: ReadonlyMap<string, PlacedThread["state"]> },
): boolean {
  const before = known.get(id);
  if (state === "waiting_for_person") return before !== state;
  return before === undefined && createdAt >= sinceMs;
}

/** What the browser tells of it. Ids alone: it is shown over whatever else is on the screen. */
export function noticeOf({ channel, threadId, state }: PlacedThread): { title: string; body: string } {
  const waits = state === "waiting_for_person";
  return { title: waits ? "Waiting for a person" : "A new conversation", body: `${threadId} in ${channel}` };
}
