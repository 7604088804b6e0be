import type { ListedThread, ThreadEntry, ThreadList, ThreadPlace, UserStore } from "../../store/users.ts";
import { answererSince } from "../answerer-since.ts";
import { isThreadState } from "../records.ts";
import { FEW_THREADS, latestFirst, pageOfAll } from "../thread-order.ts";
import { raise } from "./activity.ts";
import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { activityKey, threadKeys, userKeys } from "./keys.ts";
import { listOf, numberOf, textOf, textOrNull, threadEntryFrom } from "./records.ts";

/** Threads missing from the order that are read at once: new ones, and those of an earlier version. */
const UNKNOWN_AT_ONCE = 500;

interface Selected extends ThreadEntry {
  /** The thread's time in the order; null if it is not there, or the order was not read. */
  indexedAtMs: number | null;
}

/**
 * A user's threads by activity. What is shown of each is read from the thread itself, which is always right. If they
 * are few, all are read. If not, the channel's order (activity.ts) selects the page; threads missing from it, because
 * they were never listed or an earlier version created them, are added first.
 */
export function redisThreadList(redis: RedisCommands): Pick<UserStore, "listThreads"> {
  const glance = (thread: Selected) => glanceAt(redis, thread);

  async function select(
    slug: string,
    userId: string,
    { limit, after }: { limit: number; after: ThreadPlace | null },
  ): Promise<{ isAll: boolean; threads: Selected[] }> {
    const { names } = userKeys(slug, userId);
    const [type, found] = listOf(
      await redis.ask(
        "select_threads",
        { names, activity: activityKey(slug) },
        {
          fewest: String(FEW_THREADS),
          limit: String(limit),
          afterAt: after ? String(after.atMs) : "",
          afterUid: after?.uid ?? "",
        },
      ),
    );
    return { isAll: type === "all", threads: listOf(found).map(selectedFrom) };
  }

  /** Adds all threads that are missing from the order. */
  async function complete(slug: string, userId: string): Promise<void> {
    for (;;) {
      const { isAll, threads } = await select(slug, userId, { limit: UNKNOWN_AT_ONCE, after: null });
      const unknown = threads.filter(({ indexedAtMs }) => indexedAtMs === null);
      if (isAll || unknown.length === 0) return;
      const seen = await Promise.all(unknown.map(glance));
      await raise(
        redis,
        slug,
        seen.map(({ uid, updatedAtMs }) => [uid, updatedAtMs]),
      );
    }
  }

  async function pageOfMany(
    list: { slug: string; userId: string; limit: number; after: ThreadPlace | null },
    selected: readonly Selected[],
  ): Promise<ThreadList> {
    const { slug, limit } = list;
    const shown = selected.slice(0, limit);
    const last = shown.at(-1);
    const threads = await Promise.all(shown.map(glance));
    // The order is behind: an instance of an earlier version wrote there, or a write is pending. No caller waits for
    // this.
    const late = threads.filter(({ indexedAtMs, updatedAtMs }) => updatedAtMs > (indexedAtMs ?? 0));
    raise(
      redis,
      slug,
      late.map(({ uid, updatedAtMs }) => [uid, updatedAtMs]),
    ).catch(() => {});
    const hasMore = selected.length > limit && last !== undefined;
    return {
      items: latestFirst(threads.map(listed)),
      next: hasMore ? { atMs: last.indexedAtMs ?? last.createdAtMs, uid: last.uid } : null,
    };
  }

  return {
    async listThreads(list) {
      const { slug, userId, limit, after } = list;
      // One more shows whether there is another page.
      const page = { limit: limit + 1, after };
      let { isAll, threads } = await select(slug, userId, page);
      if (!isAll && threads.some(({ indexedAtMs }) => indexedAtMs === null)) {
        await complete(slug, userId);
        ({ isAll, threads } = await select(slug, userId, page));
      }
      if (isAll) return pageOfAll((await Promise.all(threads.map(glance))).map(listed), list);
      return pageOfMany(
        list,
        threads.filter(({ indexedAtMs }) => indexedAtMs !== null),
      );
    },
  };
}

/** Adds what is read from the thread itself. */
export async function glanceAt<Entry extends ThreadEntry>(
  redis: Pick<RedisCommands, "ask">,
  thread: Entry,
): Promise<Entry & ListedThread> {
  const reply = await redis.ask("glance_thread", threadKeys(thread.uid), {});
  const [state, lastItemAt, snapshot] = listOf(reply);
  const lastItemAtMs = lastItemAt ? numberOf(lastItemAt) : 0;
  const changedAtMs = answererSince(textOrNull(snapshot));
  const updatedAtMs = Math.max(lastItemAtMs, thread.createdAtMs, changedAtMs);
  const told = typeof snapshot === "string" && changedAtMs > 0 ? { snapshot } : {};
  return { ...thread, updatedAtMs, state: isThreadState(state) ? state : "idle", ...told };
}

function selectedFrom(reply: Reply): Selected {
  const [name, entry, score] = listOf(reply);
  const thread = threadEntryFrom(textOf(name), textOf(entry));
  return { ...thread, indexedAtMs: score ? numberOf(score) : null };
}

function listed({ threadId, uid, createdAtMs, updatedAtMs, state }: ListedThread): ListedThread {
  return { threadId, uid, createdAtMs, updatedAtMs, state };
}
