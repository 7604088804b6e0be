import type { Me, PlacedThread } from "../service/views.ts";

/** Conversations by their id. */
export type InboxThreads = ReadonlyMap<string, PlacedThread>;

export const NO_THREADS: InboxThreads = new Map();

/** How many idle conversations are kept; active ones are all kept. */
const KEPT = 300;

/** Adds what the lists returned. Changes that arrived meanwhile are newer, and stay. */
export function withListed(threads: InboxThreads, listed: readonly PlacedThread[]): InboxThreads {
  const all = new Map(threads);
  for (const thread of listed) {
    const known = all.get(thread.id);
    if (known === undefined || known.updatedAt <= thread.updatedAt) all.set(thread.id, thread);
  }
  return kept(all);
}

export function withChange(threads: InboxThreads, change: PlacedThread): InboxThreads {
  return kept(new Map(threads).set(change.id, change));
}

/** Those that fit, the latest activity first; visitors who wait for a person, the longest wait first. */
export function fitting(threads: InboxThreads, fits: (thread: PlacedThread) => boolean): PlacedThread[] {
  return [...threads.values()].filter(fits).sort(inOrder);
}

function inOrder(a: PlacedThread, b: PlacedThread): number {
  return (waitingSince(a) ?? 0) - (waitingSince(b) ?? 0) || b.updatedAt - a.updatedAt;
}

/** Likewise, in groups: each conversation in the first one that has it. */
export function inGroups<Group>(
  threads: InboxThreads,
  groups: readonly Group[],
  has: (group: Group, thread: PlacedThread) => boolean,
): [group: Group, threads: PlacedThread[]][] {
  const found = new Map<Group, PlacedThread[]>(groups.map((group) => [group, []]));
  for (const thread of threads.values()) {
    const group = groups.find((one) => has(one, thread));
    if (group !== undefined) found.get(group)?.push(thread);
  }
  return [...found].map(([group, some]) => [group, some.sort(inOrder)]);
}

/** A queue's place in the address that stands for all of them. */
export const EVERY = "*";

/**
 * Which conversations an operator's inbox shows. `queue`: a name, or EVERY; "": those of the operator's own queues, if there are
 * any, those that are in none, and whatever the operator has taken.
 */
export function shownIn(
  queue: string,
  { name, queues: own }: Pick<Me, "name" | "queues">,
): (thread: PlacedThread) => boolean {
  if (queue === EVERY || (queue === "" && own === undefined)) return () => true;
  if (queue !== "") return (thread) => thread.queue === queue;
  return ({ queue: its, handoff }) =>
    its === undefined || own?.includes(its) === true || handoff?.with === name;
}

function waitingSince({ state, handoff }: PlacedThread): number | undefined {
  return state === "waiting_for_person" ? handoff?.waitingSince : undefined;
}

function kept(threads: Map<string, PlacedThread>): Map<string, PlacedThread> {
  for (const { id } of fitting(threads, ({ state }) => state === "idle").slice(KEPT)) threads.delete(id);
  return threads;
}

/** What is wanted of operators there: its state, or that they approve a call. */
export function wantOf({ state, approval }: PlacedThread): string {
  return approval === "operator" ? "approval" : state;
}

/**
 * Does it need attention? True for a conversation that began after the console was opened, and one that newly asks for a
 * person, or for an approval. `known`: what was wanted in those seen so far.
 */
export function isNews(
  thread: PlacedThread,
  { sinceMs, known }: { sinceMs: number; known: ReadonlyMap<string, string> },
): boolean {
  const before = known.get(thread.id);
  const want = wantOf(thread);
  if (want === "waiting_for_person" || want === "approval") return before !== want;
  return before === undefined && thread.createdAt >= sinceMs;
}

/** Has a message come since `sinceMs` into a conversation that this operator has taken? */
export function isAnswerTo(
  operator: string,
  { state, handoff, updatedAt }: PlacedThread,
  sinceMs: number,
): boolean {
  return state === "with_person" && handoff?.with === operator && updatedAt > sinceMs;
}

/** The browser notification. It has only ids, because it appears over whatever else is on the screen. */
export function noticeOf(thread: PlacedThread): { title: string; body: string } {
  const { channel, threadId } = thread;
  const titles: Partial<Record<string, string>> = {
    approval: "A call waits for approval",
    waiting_for_person: "Waiting for a person",
    with_person: "The visitor answered you",
  };
  return { title: titles[wantOf(thread)] ?? "A new conversation", body: `${threadId} in ${channel}` };
}
