import { pageOf } from "../../store/page.ts";
import type { Page } from "../../store/page.ts";
import type { PlacedUser, UserPage } from "../../store/users.ts";
import type { RedisCommands } from "./commands.ts";
import { isFilled } from "./filled.ts";
import { blockedUsersKey, userKeys, usersKey } from "./keys.ts";
import { scoresOf } from "./pages.ts";
import { listOf, textOrNull, USER_FIELDS, userFrom } from "./records.ts";

/** A user's place in the channel: its score in the list, and its id. */
interface Place {
  score: number;
  userId: string;
}

/** A page of a channel's users. Paged by score and not by rank, because ranks change when users are merged. */
export async function redisUsersPage(
  redis: RedisCommands,
  slug: string,
  { limit, after, order, blocked = false }: UserPage,
): Promise<Page<PlacedUser>> {
  const from = after === null ? null : readPlace(after);
  if (after !== null && from === null) return { items: [], next: null };
  const key = blocked && (await isFilled(redis, slug)) ? blockedUsersKey(slug) : usersKey(slug);
  const listed = await listedUsers(redis, key, { from, limit: limit + 1, order });
  const { items, next } = pageOf(
    listed.map((place) => ({ ...place, place: `${place.score}-${place.userId}` })),
    limit,
  );
  const users = await Promise.all(
    items.map(async ({ score, userId, place }) => {
      const { user: key } = userKeys(slug, userId);
      const reply = await redis.read(key, "HMGET", key, ...USER_FIELDS);
      // A user that was merged meanwhile is gone.
      if (textOrNull(listOf(reply)[0]) === null) return [];
      return [{ user: userFrom(reply), createdAtMs: Math.floor(score / 1000), place }];
    }),
  );
  return { items: users.flat(), next };
}

function readPlace(text: string): Place | null {
  const [, score, userId] = /^(\d{1,16})-(.+)$/s.exec(text) ?? [];
  return userId === undefined ? null : { score: Number(score), userId };
}

/** Users behind a place, at most `limit`. Users with the same score are sorted by id. */
async function listedUsers(
  redis: RedisCommands,
  key: string,
  { from, limit, order }: { from: Place | null; limit: number; order: UserPage["order"] },
): Promise<Place[]> {
  const isReverse = order === "newest first";
  const [first, last] = isReverse ? ["+inf", "-inf"] : ["-inf", "+inf"];
  const direction = isReverse ? ["REV"] : [];
  for (let asked = limit + 1; ; asked *= 2) {
    const start = from === null ? first : String(from.score);
    const range = ["ZRANGE", key, start, last, "BYSCORE", ...direction, "LIMIT", "0", String(asked)];
    const met = scoresOf(await redis.read(key, ...range, "WITHSCORES"));
    const behind = met
      .map(([userId, score]): Place => ({ userId, score: Number(score) }))
      .filter((place) => from === null || isBehind(place, from, isReverse));
    // All of them may have the score of the place and stand before it.
    if (behind.length >= limit || met.length < asked) return behind.slice(0, limit);
  }
}

function isBehind(place: Place, from: Place, isReverse: boolean): boolean {
  if (place.score !== from.score) return true;
  // Compares bytes, like Redis. Ids are ASCII.
  return isReverse ? place.userId < from.userId : place.userId > from.userId;
}
