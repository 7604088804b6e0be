import type { ThreadCommit, ThreadState } from "../../store/threads.ts";
import { answererSince } from "../answerer-since.ts";
import { BUSY_STATES } from "../busy-states.ts";
import type { RedisCommands } from "./commands.ts";
import { activityKey, busyKey, globalKeys, threadKeys } from "./keys.ts";
import { hashPages } from "./pages.ts";
import { listOf, textOf, textOrNull } from "./records.ts";

/**
 * A channel's threads by state, except idle ones: `busy:{c:S}:STATE`, each by its last activity. The lists say where
 * to look; the thread itself says what is true. A thread found in a list that it no longer belongs to is skipped and
 * removed.
 *
 * A thread that is released in a state other than idle is listed before its commit, in the same tick, so it stays
 * listed if the process dies. Everything else is written some moments later, many threads at once, at no cost to a
 * message: most runs are over by then and were never listed.
 */
export interface Busy {
  /** Call it before the commit is sent. */
  committing(
    commit: Pick<ThreadCommit, "slug" | "uid" | "state" | "holds" | "atMs" | "messages" | "snapshot">,
  ): void;
  /** The state that a list has read. */
  met(slug: string, thread: { uid: string; state: ThreadState; updatedAtMs: number }): void;
  /** Removes threads from lists that they no longer belong to, such as those that a dead process has left. */
  tidy(): Promise<void>;
  /** Writes everything that is pending. */
  close(): Promise<void>;
}

/** Every thread is in its list after this time; failed writes are retried after it. */
const LATER_MS = 2_000;
const AT_ONCE = 500;

/** `atMs`: the last activity known here; the channel's order may have a later one. */
interface Standing {
  state: ThreadState;
  atMs: number;
  /** The thread did not exist when it was to be listed: its first commit was in progress, or it is deleted. */
  isMissed?: true;
}

export function createBusy(redis: Pick<RedisCommands, "read" | "write">): Busy {
  /** slug → uid → standing */
  let later = new Map<string, Map<string, Standing>>();
  let timer: NodeJS.Timeout | null = null;

  function keepForLater(slug: string, uid: string, standing: Standing): void {
    const threads = later.get(slug) ?? new Map<string, Standing>();
    later.set(slug, threads);
    threads.set(uid, standing);
    timer ??= setTimeout(() => void writeLater(), LATER_MS).unref();
  }

  async function writeLater(): Promise<void> {
    timer = null;
    const known = later;
    later = new Map();
    for (const [slug, threads] of known) {
      const all = [...threads];
      for (let i = 0; i < all.length; i += AT_ONCE) {
        const some = new Map(all.slice(i, i + AT_ONCE));
        // A later commit wins.
        const again = (uid: string, at: Standing) =>
          later.get(slug)?.has(uid) ? undefined : keepForLater(slug, uid, at);
        await arrange(redis, slug, some, (uid, at) => again(uid, { ...at, isMissed: true })).catch(() => {
          for (const [uid, at] of some) again(uid, at);
        });
      }
    }
  }

  return {
    committing({ slug, uid, state, holds, atMs, messages, snapshot }) {
      const activeAtMs = Math.max(messages.at(-1)?.createdAtMs ?? 0, answererSince(snapshot));
      keepForLater(slug, uid, { state, atMs: activeAtMs });
      if (holds || state === "idle") return;
      const key = busyKey(slug, state);
      // No caller waits for this: it is written again a moment later.
      redis.write(key, "ZADD", key, "NX", String(activeAtMs || atMs), uid).catch(() => {});
    },

    met: (slug, { uid, state, updatedAtMs }) => keepForLater(slug, uid, { state, atMs: updatedAtMs }),

    async tidy() {
      const { channels } = globalKeys;
      for (const slug of listOf(await redis.read(channels, "SMEMBERS", channels)).map(textOf)) {
        for (const state of BUSY_STATES) {
          const key = busyKey(slug, state);
          for await (const pairs of hashPages(redis, key, AT_ONCE, "ZSCAN")) {
            const uids = pairs.map(([uid]) => uid);
            await takeOut(redis, key, state, uids);
          }
        }
      }
    },

    async close() {
      if (timer) clearTimeout(timer);
      await writeLater();
      if (timer) clearTimeout(timer);
    },
  };
}

/**
 * Puts threads into the lists of their states, and removes them from all others. A thread that does not exist is
 * passed to `onMissed` the first time, and removed the second time.
 */
export async function arrange(
  redis: Pick<RedisCommands, "read" | "write">,
  slug: string,
  threads: ReadonlyMap<string, Standing>,
  onMissed: (uid: string, standing: Standing) => void = () => {},
): Promise<void> {
  const isBusy = (uid: string) => threads.get(uid)?.state !== "idle";
  const there = new Set(await existing(redis, [...threads.keys()].filter(isBusy)));
  const missed = new Set<string>();
  for (const [uid, standing] of threads) {
    if (standing.state === "idle" || standing.isMissed || there.has(uid)) continue;
    missed.add(uid);
    onMissed(uid, standing);
  }
  const uids = [...threads.keys()].filter((uid) => !missed.has(uid));
  const busy = uids.filter((uid) => there.has(uid));
  const activity = activityKey(slug);
  const scores = busy.length === 0 ? [] : listOf(await redis.read(activity, "ZMSCORE", activity, ...busy));
  const known = new Map(busy.map((uid, nth) => [uid, Number(scores[nth] ?? 0)]));
  for (const state of BUSY_STATES) {
    const key = busyKey(slug, state);
    const members = busy.flatMap((uid) => {
      if (threads.get(uid)?.state !== state) return [];
      const atMs = Math.max(known.get(uid) ?? 0, threads.get(uid)?.atMs ?? 0);
      return [String(atMs), uid];
    });
    if (members.length > 0) await redis.write(key, "ZADD", key, ...members);
    // Including those that were just added: another instance may have changed their state, and written that before.
    await takeOut(redis, key, state, uids);
  }
}

/** Deleted threads are in no list. */
export async function unlistBusy(
  redis: Pick<RedisCommands, "write">,
  slug: string,
  uids: readonly string[],
): Promise<void> {
  if (uids.length === 0) return;
  for (const state of BUSY_STATES) {
    const key = busyKey(slug, state);
    await redis.write(key, "ZREM", key, ...uids);
  }
}

async function existing(redis: Pick<RedisCommands, "read">, uids: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    uids.map(async (uid) => {
      const { header } = threadKeys(uid);
      return redis.read(header, "EXISTS", header);
    }),
  );
  return uids.filter((_, nth) => found[nth] === 1);
}

/** Removes threads that are not in the state. What is known here may be old, so the threads themselves are read. */
async function takeOut(
  redis: Pick<RedisCommands, "read" | "write">,
  key: string,
  state: ThreadState,
  uids: readonly string[],
): Promise<void> {
  if (uids.length === 0) return;
  const scores = listOf(await redis.read(key, "ZMSCORE", key, ...uids));
  const there = uids.filter((_, nth) => scores[nth] !== null);
  const now = await Promise.all(
    there.map(async (uid) => {
      const { header } = threadKeys(uid);
      return textOrNull(await redis.read(header, "HGET", header, "state"));
    }),
  );
  const gone = there.filter((_, nth) => now[nth] !== state);
  if (gone.length > 0) await redis.write(key, "ZREM", key, ...gone);
}
