import type { ThreadCommit, ThreadState } from "../../store/threads.ts";
import { answererSince } from "../answerer-since.ts";
import { BUSY_STATES } from "../busy-states.ts";
import type { RedisCommands } from "./commands.ts";
import { activityKey, busyKey, globalKeys, threadKeys } from "./keys.ts";
import { hashPages } from "./pages.ts";
import { listOf, textOf, textOrNull } from "./records.ts";

/**
 * A channel's threads by state, for those that are not idle: `busy:{c:S}:STATE`, each by its last activity. They say where
 * to look, and the thread what is so: one that stands in a list it does not belong to any more is passed over, and taken
 * out by whoever meets it.
 *
 * A thread that comes to rest is put in before its commit, in the same tick: whoever dies after it has left it there. All
 * else is written some moments later, many threads at once, and costs a message nothing: most runs are over by then, and
 * were never in a list.
 */
export interface Busy {
  /** Before the commit is sent. */
  committing(
    commit: Pick<ThreadCommit, "slug" | "uid" | "state" | "holds" | "atMs" | "messages" | "snapshot">,
  ): void;
  /** As a list has met it. */
  met(slug: string, thread: { uid: string; state: ThreadState; updatedAtMs: number }): void;
  /** Takes out of all lists who does not belong there any more, as a process that died has left it. */
  tidy(): Promise<void>;
  /** Writes what is left. */
  close(): Promise<void>;
}

/** Everything is in its list after this time, and what failed is tried again. */
const LATER_MS = 2_000;
const AT_ONCE = 500;

/** `atMs`: its last activity as far as is known here; the channel's order may know of a later one. */
interface Standing {
  state: ThreadState;
  atMs: number;
  /** There was no such thread when it was to be listed: its first commit was under way, or it is deleted. */
  isMissed?: true;
}

export function createBusy(redis: Pick<RedisCommands, "read" | "write">): Busy {
  /** slug → uid → where it stands */
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
        // What was committed since counts.
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
      // Nobody waits for this: it is written again a moment later.
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
 * Puts threads into the lists of their states, and takes them out of others, where they are in some. One that is not there is
 * told to `onMissed` at first, and then taken out.
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
    // Those that were just put in, too: another instance may have brought them elsewhere, and written that before.
    await takeOut(redis, key, state, uids);
  }
}

/** Threads that are deleted are in no list. */
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

/** Who is not in the state. What is known here may be old: the thread itself is asked. */
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
