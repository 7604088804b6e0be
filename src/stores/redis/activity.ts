import type { ThreadCommit } from "../../store/threads.ts";
import { answererSince } from "../answerer-since.ts";
import type { RedisCommands } from "./commands.ts";
import { CHANGES_KEPT_MS } from "../../store/channel-threads.ts";
import { activityKey, changesKey } from "./keys.ts";

/**
 * The order of a channel's threads by activity, in the channel's slot: `act:{c:S}`, which nobody waits for. Beside it, in
 * `chg:{c:S}`, are the threads whose state changed without a message: a call of the page that waits, or is answered.
 *
 * A commit that gives a thread back is told here first, in the same tick: whoever dies after it has left the order as the
 * commit will make it, and a commit that then does not happen only lets the thread stand too high until it is looked at
 * (thread-list.ts). What goes on is written a moment later, many threads at once. Times only grow, so every order of
 * arrival ends the same.
 */
export interface Activity {
  /** Before the commit is sent. */
  committing(
    commit: Pick<ThreadCommit, "slug" | "uid" | "messages" | "snapshot" | "holds" | "claims" | "atMs">,
  ): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

/** A thread that goes on is in the order after this time at most, and what failed is tried again. */
const LATER_MS = 2_000;
/** Members of one command. */
const AT_ONCE = 500;
/** Old changes are dropped with every so many new ones. */
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

  /** Best effort: a feed that missed it tells of the thread with its next message. */
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
      // Who answers may have changed without a message; the time of an earlier change raises nothing.
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
      // The next list that misses one finds it.
      await Promise.allSettled(left);
    },
  };
}

/** Sets the threads' times where they have none, or an earlier one. */
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
