import type { ListedThread, RestingThread, Store } from "../../../src/store.ts";
import type { ThreadList, ThreadPlace } from "../../../src/store/users.ts";

/** What the node of a thread knows of a thread that another node lists: when somebody last spoke in it, and what it is doing. */
export async function activeIn<Thread extends Pick<ListedThread, "uid" | "updatedAtMs" | "state">>(
  twin: Store,
  listed: Thread,
): Promise<Thread> {
  const record = await twin.load(listed.uid, 0);
  if (!record) return listed;
  const spokenAtMs = record.tail.at(-1)?.createdAtMs ?? 0;
  return { ...listed, updatedAtMs: Math.max(listed.updatedAtMs, spokenAtMs), state: record.state };
}

export async function restIn(twin: Store, listed: RestingThread): Promise<RestingThread> {
  const { isDeleted } = await twin.look(listed.uid, null);
  if (isDeleted) return { ...listed, rev: null };
  const { rev = 0, fence = null } = (await twin.load(listed.uid, 0)) ?? {};
  return { ...(await activeIn(twin, listed)), isHeld: fence !== null, rev };
}

/** The latest first, as the store's contract has it. */
export function pageByActivity(
  threads: readonly ListedThread[],
  limit: number,
  after: ThreadPlace | null,
): ThreadList {
  const latestFirst = threads
    .toSorted((a, b) => b.updatedAtMs - a.updatedAtMs || (a.uid < b.uid ? 1 : -1))
    .filter(
      ({ uid, updatedAtMs: atMs }) =>
        after === null || atMs < after.atMs || (atMs === after.atMs && uid < after.uid),
    );
  const items = latestFirst.slice(0, limit);
  const last = items.at(-1);
  const next = last && latestFirst.length > limit ? { atMs: last.updatedAtMs, uid: last.uid } : null;
  return { items, next };
}
