import type { ChannelThread, ChannelThreadStore, PlacedThread } from "../../store/channel-threads.ts";
import { pageOf } from "../../store/page.ts";
import type { ThreadEntry, ThreadPlace } from "../../store/users.ts";
import { isBehind } from "../thread-order.ts";
import { readThreadPlace, threadPlaceText } from "../thread-place.ts";
import { raise } from "./activity.ts";
import type { Busy } from "./busy.ts";
import type { RedisCommands } from "./commands.ts";
import { isFilledWithStates } from "./filled.ts";
import { fillOrders } from "./fill-orders.ts";
import { activityKey, busyKey, changesKey, ownersKey, threadKeys, userKeys } from "./keys.ts";
import { hashPages, scoresOf } from "./pages.ts";
import { jsonValue, listOf, textOrNull, threadEntryFrom } from "./records.ts";
import type { RedisLink } from "./link.ts";
import { restingThreads } from "./resting-threads.ts";
import { glanceAt } from "./thread-list.ts";
import { createTokenFilling } from "./user-tokens.ts";
import { isObject } from "../checks.ts";

type Owned = ThreadEntry & { userId: string };

/**
 * A channel's threads by activity: the channel's order (activity.ts) selects a page, `whose:{c:S}` names the users,
 * and each thread is read for what is shown of it. The first two only say where to look: the names of a user decide
 * whose a thread is.
 */
export function redisChannelThreads({
  redis,
  background,
  processId,
  busy,
  link,
}: {
  link: Pick<RedisLink, "shards">;
  redis: RedisCommands;
  background: RedisCommands;
  processId: string;
  busy: Pick<Busy, "met">;
}): ChannelThreadStore {
  const fillTokens = createTokenFilling(link, background);

  /** The latest ones behind a place, at most `limit`. */
  async function placed(
    key: string,
    from: ThreadPlace | null,
    { sinceMs, untilMs, limit }: { sinceMs: number; untilMs: number; limit: number },
  ): Promise<ThreadPlace[]> {
    const latest = Math.min(untilMs, from?.atMs ?? Infinity);
    const start = latest === Infinity ? "+inf" : String(latest);
    for (let asked = limit + 1; ; asked *= 2) {
      const range = [start, String(sinceMs), "BYSCORE", "REV", "LIMIT", "0", String(asked), "WITHSCORES"];
      const met = scoresOf(await redis.read(key, "ZRANGE", key, ...range));
      const behind = met
        .map(([uid, score]): ThreadPlace => ({ uid, atMs: Number(score) }))
        .filter((place) => from === null || isBehind(place, from));
      // All of them may have the time of the place and stand before it.
      if (behind.length >= limit || met.length < asked) return behind.slice(0, limit);
    }
  }

  async function claimsOf(slug: string, uids: readonly string[]): Promise<(string | null)[]> {
    if (uids.length === 0) return [];
    const key = ownersKey(slug);
    return listOf(await redis.read(key, "HMGET", key, ...uids)).map(textOrNull);
  }

  async function shown(
    slug: string,
    uid: string,
    claim: string | null | undefined,
  ): Promise<ChannelThread | null> {
    const owned = (claim ? await confirmed(redis, slug, uid, claim) : null) ?? (await found(slug, uid));
    return owned && glanceAt(redis, owned);
  }

  async function found(slug: string, uid: string): Promise<Owned | null> {
    const owned = await searched(redis, slug, uid);
    // No caller waits for this.
    if (owned) noteOwner(redis, slug, owned).catch(() => {});
    return owned;
  }

  return {
    async channelThreads(slug, { limit, after, state, ...times }) {
      const from = after === null ? null : readThreadPlace(after);
      if (after !== null && from === null) return { items: [], next: null };
      const isListed = state !== undefined && state !== "idle" && (await isFilledWithStates(redis, slug));
      const order = isListed ? busyKey(slug, state) : activityKey(slug);
      const latest = await placed(order, from, { ...times, limit: limit + 1 });
      const places = latest.map((place) => ({ ...place, place: threadPlaceText(place) }));
      const { items, next } = pageOf(places, limit);
      const claims = await claimsOf(
        slug,
        items.map(({ uid }) => uid),
      );
      const read = await Promise.all(
        items.map(async ({ uid, atMs, place }, nth): Promise<(PlacedThread & { atMs: number })[]> => {
          const thread = await shown(slug, uid, claims[nth]);
          return thread ? [{ ...thread, place, atMs }] : [];
        }),
      );
      const threads = read.flat();
      const late = threads.filter(({ updatedAtMs, atMs }) => updatedAtMs > atMs);
      // The order is behind: an instance of an earlier version wrote there, or a write is pending. No caller waits
      // for this.
      raise(
        redis,
        slug,
        late.map(({ uid, updatedAtMs }) => [uid, updatedAtMs]),
      ).catch(() => {});
      // Here too; or the thread is no longer in the state of the list.
      for (const thread of threads) {
        if (thread.state !== (isListed ? state : "idle")) busy.met(slug, thread);
      }
      const met = new Set(threads.map(({ uid }) => uid));
      for (const { uid } of isListed ? items : []) {
        if (!met.has(uid)) busy.met(slug, { uid, state: "idle", updatedAtMs: 0 });
      }
      const wanted = threads.filter((thread) => (state ?? thread.state) === thread.state);
      return { items: wanted.map(({ atMs: _, ...thread }) => thread), next };
    },

    async channelThread(slug, uid) {
      const [claim] = await claimsOf(slug, [uid]);
      return shown(slug, uid, claim);
    },

    async changedThreads(slug, { sinceMs, limit }) {
      const newest = [`+inf`, String(sinceMs), "BYSCORE", "REV", "LIMIT", "0", String(limit), "WITHSCORES"];
      const [spoken, changed] = await Promise.all(
        [activityKey(slug), changesKey(slug)].map(async (key) =>
          scoresOf(await redis.read(key, "ZRANGE", key, ...newest)),
        ),
      );
      const latest = new Map<string, number>();
      for (const [uid, score] of [...(spoken ?? []), ...(changed ?? [])]) {
        latest.set(uid, Math.max(latest.get(uid) ?? 0, Number(score)));
      }
      return [...latest]
        .map(([uid, atMs]) => ({ uid, atMs }))
        .sort((a, b) => b.atMs - a.atMs)
        .slice(0, limit);
    },

    restingThreads: (slug, page) => restingThreads(redis, slug, page),

    fillOrders: () => fillOrders(background, processId, fillTokens),
  };
}

/**
 * The owner of a thread as the list of owners has it, `USER NAME`; corrects the list if it is wrong. If no user's
 * names have the thread any more, what the list says; null: unknown.
 */
export async function ownerOf(redis: RedisCommands, slug: string, uid: string): Promise<string | null> {
  const key = ownersKey(slug);
  const claim = textOrNull(await redis.read(key, "HGET", key, uid));
  if (claim !== null && (await confirmed(redis, slug, uid, claim))) return claim;
  const owned = await searched(redis, slug, uid);
  if (!owned) return claim;
  await noteOwner(redis, slug, owned);
  return ownerText(owned);
}

const ownerText = ({ userId, threadId }: Owned) => `${userId} ${threadId}`;

async function noteOwner(redis: RedisCommands, slug: string, owned: Owned): Promise<void> {
  const key = ownersKey(slug);
  await redis.write(key, "HSET", key, owned.uid, ownerText(owned));
}

/**
 * For threads that the list of owners lacks or has wrong: an earlier version created them, or moved them in a merge.
 */
async function searched(redis: RedisCommands, slug: string, uid: string): Promise<Owned | null> {
  const { header } = threadKeys(uid);
  const [slugOf, run] = listOf(await redis.read(header, "HMGET", header, "slug", "run")).map(textOrNull);
  const record = run ? jsonValue(run) : null;
  if (slugOf !== slug || !isObject(record)) return null;
  const { userId: likely } = record;
  if (typeof likely !== "string") return null;
  const { moved } = userKeys(slug, likely);
  const into = textOrNull(await redis.read(moved, "GET", moved));
  for (const userId of into === null ? [likely] : [likely, into]) {
    const { names } = userKeys(slug, userId);
    for await (const pairs of hashPages(redis, names, 500)) {
      const entry = pairs.map((pair) => threadEntryFrom(...pair)).find((one) => one.uid === uid);
      if (entry) return { ...entry, userId };
    }
  }
  return null;
}

/** The list's claim about a thread, if the user's names confirm it. */
async function confirmed(
  redis: RedisCommands,
  slug: string,
  uid: string,
  claim: string,
): Promise<Owned | null> {
  const space = claim.indexOf(" ");
  const [userId, name] = [claim.slice(0, space), claim.slice(space + 1)];
  const { names } = userKeys(slug, userId);
  const entry = textOrNull(await redis.read(names, "HGET", names, name));
  const thread = entry === null ? null : threadEntryFrom(name, entry);
  return thread?.uid === uid ? { ...thread, userId } : null;
}
