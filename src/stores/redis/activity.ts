import type { ThreadCommit } from "../../store/threads.ts";
import { answererSince } from "../answerer-since.ts";
import type { RedisCommands } from "./commands.ts";
import { CHANGES_KEPT_MS } from "../../store/channel-threads.ts";
import { activityKey, changesKey } from "./keys.ts";

/**
 * A channel's threads by last activity, in the channel's slot: `act:{c:S}`; no caller waits for these writes. Beside
 * it, `chg:{c:S}` has the threads whose state changed without a message: a call of the page begins to wait, or is
 * answered.
 *
 * A commit that releases a thread is noted here first, in the same tick: if the process then dies, the order is
 * already as the commit makes it; if the commit does not happen, the thread only stands too high until it is read
 * (thread-list.ts). Threads that stay held are written a moment later, many at once. Times only grow, so any order of
 * arrival gives the same result.
 */
export interface Activity {
  /** Call it before the commit is sent. */
  committing(
    commit: Pick<ThreadCommit, "slug" | "uid" | "messages" | "snapshot" | "holds" | "claims" | "atMs">,
  ): void;
  /** Writes everything that is pending. */
  close(): Promise<void>;
}

/** A thread that stays held is in the order after this time at most; failed writes are retried after it. */
const LATER_MS = 2_000;
/** Members of one command. */
const AT_ONCE = 500;
/** Old changes are removed once for this many new ones. */
const DROPPED_EVERY = 100;

export function createActivity({
  redis,
  background,
}: {
  redis: Pick<RedisCommands, "write">;
  background: Pick<RedisCommands, "write">;
}): Activity {
  /** slug → uid → time */
  let later = new Map<string, Map<string, number>>();
  let timer: NodeJS.Timeout | null = null;
  let changes = 0;

  function keepForLater(slug: string, uid: string, atMs: number): void {
    const threads = later.get(slug) ?? new Map<string, number>();
    later.set(slug, threads);
    threads.set(uid, Math.max(atMs, threads.get(uid) ?? 0));
    timer ??= setTimeout(writeLater, LATER_MS).unref();
  }

  function writeLater(): void {
    timer = null;
    const known = later;
    later = new Map();
    for (const [slug, threads] of known) {
      const all = [...threads];
      for (let i = 0; i < all.length; i += AT_ONCE) write(slug, all.slice(i, i + AT_ONCE));
    }
  }

  function write(slug: string, threads: readonly (readonly [uid: string, atMs: number])[]): void {
    raise(redis, slug, threads).catch(() => {
      for (const [uid, atMs] of threads) keepForLater(slug, uid, atMs);
    });
  }

  /** Best effort: a feed that misses the change gets the thread with its next message. */
  function noteChange(slug: string, uid: string, atMs: number): void {
    const key = changesKey(slug);
    redis.write(key, "ZADD", key, "GT", String(atMs), uid).catch(() => {});
    if (changes++ % DROPPED_EVERY > 0) return;
    background.write(key, "ZREMRANGEBYSCORE", key, "-inf", String(atMs - CHANGES_KEPT_MS)).catch(() => {});
  }

  return {
    committing({ slug, uid, messages, snapshot, holds, claims, atMs }) {
      const last = messages.at(-1);
      if (!last && (claims || !holds)) noteChange(slug, uid, atMs);
      // The answerer may have changed without a message; if not, its time is an old one and raises nothing.
      const activeAtMs = Math.max(last?.createdAtMs ?? 0, answererSince(snapshot));
      if (activeAtMs === 0) return;
      if (holds) return keepForLater(slug, uid, activeAtMs);
      const kept = later.get(slug)?.get(uid) ?? 0;
      later.get(slug)?.delete(uid);
      write(slug, [[uid, Math.max(activeAtMs, kept)]]);
    },

    async close() {
      if (timer) clearTimeout(timer);
      const left = [...later].map(([slug, threads]) => raise(redis, slug, [...threads]));
      later = new Map();
      // Errors are ignored: the next list that reads such a thread corrects the order.
      await Promise.allSettled(left);
    },
  };
}

/** Raises the threads' times: sets those that are missing or earlier. */
export async function raise(
  redis: Pick<RedisCommands, "write">,
  slug: string,
  threads: readonly (readonly [uid: string, atMs: number])[],
): Promise<void> {
  if (threads.length === 0) return;
  const key = activityKey(slug);
  const members = threads.flatMap(([uid, atMs]) => [String(atMs), uid]);
  await redis.write(key, "ZADD", key, "GT", ...members);
}
