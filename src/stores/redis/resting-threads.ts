import { DELETED_FENCE } from "../../domain/fence.ts";
import type { RestingThread, RestingThreadPage } from "../../store/channel-threads.ts";
import type { ThreadPlace } from "../../store/users.ts";
import { isThreadState } from "../records.ts";
import { raise } from "./activity.ts";
import type { RedisCommands } from "./commands.ts";
import { activityKey, threadKeys } from "./keys.ts";
import { scoresOf } from "./pages.ts";
import { listOf, numberOf, textOrNull } from "./records.ts";
import { glanceAt } from "./thread-list.ts";

/**
 * The low end of the channel's order. If an earlier version wrote to a thread, its place is corrected and the thread
 * left out.
 */
export async function restingThreads(
  redis: RedisCommands,
  slug: string,
  { untilMs, limit, after }: { untilMs: number; limit: number; after: ThreadPlace | null },
): Promise<RestingThreadPage> {
  const places = await oldest(redis, slug, { untilMs, limit, after });
  const read = (await Promise.all(places.map((place) => look(redis, place)))).flat();
  const late = read.filter(({ updatedAtMs }) => updatedAtMs > untilMs);
  await raise(
    redis,
    slug,
    late.map(({ uid, updatedAtMs }) => [uid, updatedAtMs]),
  );
  const items = read.filter(({ updatedAtMs }) => updatedAtMs <= untilMs);
  return { items, next: places.length < limit ? null : (places.at(-1) ?? null) };
}

async function oldest(
  redis: RedisCommands,
  slug: string,
  { untilMs, limit, after }: { untilMs: number; limit: number; after: ThreadPlace | null },
): Promise<ThreadPlace[]> {
  const key = activityKey(slug);
  const start = after === null ? "-inf" : String(after.atMs);
  for (let asked = limit + 1; ; asked *= 2) {
    const range = [start, String(untilMs), "BYSCORE", "LIMIT", "0", String(asked), "WITHSCORES"];
    const met = scoresOf(await redis.read(key, "ZRANGE", key, ...range));
    const behind = met
      .map(([uid, score]): ThreadPlace => ({ uid, atMs: Number(score) }))
      .filter((place) => after === null || isLater(place, after));
    // All of them may have the time of the place and stand before it.
    if (behind.length >= limit || met.length < asked) return behind.slice(0, limit);
  }
}

function isLater(place: ThreadPlace, other: ThreadPlace): boolean {
  return place.atMs > other.atMs || (place.atMs === other.atMs && place.uid > other.uid);
}

/** The revision first: a message between the two reads changes it. Empty: a newer version's state cannot be judged. */
async function look(redis: RedisCommands, { uid, atMs }: ThreadPlace): Promise<RestingThread[]> {
  const { header } = threadKeys(uid);
  const fields = listOf(await redis.read(header, "HMGET", header, "rev", "fence", "state"));
  const [rev, fence, known] = fields.map(textOrNull);
  if (known && !isThreadState(known)) return [];
  const { state, updatedAtMs } = await glanceAt(redis, { uid, threadId: "", createdAtMs: atMs });
  const isGone = typeof fence === "string" && fence.startsWith(DELETED_FENCE);
  return [{ uid, state, updatedAtMs, rev: isGone ? null : numberOf(rev ?? 0) }];
}
