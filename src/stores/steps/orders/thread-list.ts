import type { ListedThread, ThreadEntry, ThreadList, ThreadPlace, UserStore } from "../../../store/users.ts";
import type { Engine } from "../../engine.ts";
import { tables } from "../../tables.ts";
import { FEW_THREADS, isBehind, latestFirst, pageOfAll } from "../../thread-order.ts";
import { glanceAt } from "../threads/glance.ts";
import { threadEntryFrom } from "../users/user-record.ts";
import type { OrderWrites } from "./order-writes.ts";

const SCORES_AT_ONCE = 1_000;

/** A thread and its place in the channel's order; a thread that is missing there has the place of its creation. */
type Placed = ThreadEntry & ThreadPlace & { isMissing: boolean };

/**
 * A user's threads by activity. What is shown of each is read from the thread itself, which is always right. If they are
 * few, all are read; if not, the channel's order selects the page.
 */
export function threadListSteps(
  engine: Engine,
  { met }: Pick<OrderWrites, "met">,
): Pick<UserStore, "listThreads"> {
  async function placed(slug: string, entries: readonly ThreadEntry[]): Promise<Placed[]> {
    const key = tables.activity.key(slug);
    const chunks = Array.from({ length: Math.ceil(entries.length / SCORES_AT_ONCE) }, (_, nth) =>
      entries.slice(nth * SCORES_AT_ONCE, (nth + 1) * SCORES_AT_ONCE),
    );
    const scores = await engine.read(
      chunks.map((chunk) => ({ read: "scores" as const, key, members: chunk.map(({ uid }) => uid) })),
    );
    const times = scores.flat();
    return entries.map((entry, nth) => {
      const atMs = times[nth] ?? null;
      return { ...entry, atMs: atMs ?? entry.createdAtMs, isMissing: atMs === null };
    });
  }

  async function pageOfMany(
    entries: readonly ThreadEntry[],
    { slug, limit, after }: { slug: string; limit: number; after: ThreadPlace | null },
  ): Promise<ThreadList> {
    const behind = (await placed(slug, entries))
      .filter((thread) => after === null || isBehind(thread, after))
      .sort((a, b) => (isBehind(a, b) ? 1 : -1));
    const page = behind.slice(0, limit);
    const last = page.at(-1);
    const threads = await Promise.all(page.map((thread) => glanceAt(engine, thread)));
    // The order is behind: a write is pending.
    for (const thread of threads) if (thread.isMissing || thread.updatedAtMs > thread.atMs) met(slug, thread);
    const next = last && behind.length > limit ? { atMs: last.atMs, uid: last.uid } : null;
    return { items: latestFirst(threads).map(listed), next };
  }

  return {
    async listThreads(list) {
      const [names] = await engine.read([{ read: "hash", key: tables.names.key(list.slug, list.userId) }]);
      const entries = names.map(([name, text]) => threadEntryFrom(name, text));
      if (entries.length > FEW_THREADS) return pageOfMany(entries, list);
      const threads = await Promise.all(entries.map((entry) => glanceAt(engine, entry)));
      return pageOfAll(threads.map(listed), list);
    },
  };
}

function listed({ threadId, uid, createdAtMs, updatedAtMs, state }: ListedThread): ListedThread {
  return { threadId, uid, createdAtMs, updatedAtMs, state };
}
