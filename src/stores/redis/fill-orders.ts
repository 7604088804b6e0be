import type { PlacedUser } from "../../store/users.ts";
import { raise } from "./activity.ts";
import { arrange } from "./busy.ts";
import type { RedisCommands } from "./commands.ts";
import { FILLED_ALL, statesField } from "./filled.ts";
import { activityKey, blockedUsersKey, globalKeys, ownersKey, userKeys } from "./keys.ts";
import { hashPages } from "./pages.ts";
import { listOf, pairsOf, textOf, textOrNull, threadEntryFrom } from "./records.ts";
import { glanceAt } from "./thread-list.ts";
import { areTokensKnown } from "./user-tokens.ts";
import { redisUsersPage } from "./users-page.ts";

/*
 * Fills these orders with the records of earlier versions, which did not write them, in one walk over a channel's
 * users, oldest first: the owner of each thread, its place by activity and by state, and the blocked users.
 * `filled:{g}` has, for each channel, the last user done, so that another process can continue. Everything may be
 * written twice.
 */
const USERS_AT_ONCE = 100;
/** How long the other processes wait after the one that fills has stopped. */
const LEASE_MS = 10_000;

/**
 * Fills the next users of a channel; when all channels are done, the next tokens. False: all is done, or another
 * process does it.
 */
export async function fillOrders(
  redis: RedisCommands,
  processId: string,
  fillTokens: () => Promise<boolean>,
): Promise<boolean> {
  const { filled, filling, channels } = globalKeys;
  const [slugs, told] = await Promise.all([
    redis.read(channels, "SMEMBERS", channels),
    redis.read(filled, "HGETALL", filled),
  ]);
  const known = new Map(pairsOf(told));
  const slug = listOf(slugs)
    .map(textOf)
    .find((one) => known.get(statesField(one)) !== FILLED_ALL);
  if (slug === undefined && (await areTokensKnown(redis))) return false;
  const isFree = await redis.write(filling, "SET", filling, processId, "NX", "PX", String(LEASE_MS));
  if (isFree === null && textOrNull(await redis.read(filling, "GET", filling)) !== processId) return false;
  await redis.write(filling, "PEXPIRE", filling, String(LEASE_MS));
  if (slug === undefined) return fillTokens();

  const page = {
    limit: USERS_AT_ONCE,
    after: known.get(statesField(slug)) ?? null,
    order: "oldest first",
  } as const;
  const { items, next } = await redisUsersPage(redis, slug, page);
  await Promise.all(items.map((user) => fillUser(redis, slug, user)));
  const marks = next === null ? [slug, FILLED_ALL] : [];
  await redis.write(filled, "HSET", filled, statesField(slug), next ?? FILLED_ALL, ...marks);
  return true;
}

async function fillUser(
  redis: RedisCommands,
  slug: string,
  { user: { userId, blocked }, place }: PlacedUser,
): Promise<void> {
  const blockedUsers = blockedUsersKey(slug);
  if (blocked) {
    await redis.write(blockedUsers, "ZADD", blockedUsers, place.slice(0, place.indexOf("-")), userId);
  }
  const [owners, activity] = [ownersKey(slug), activityKey(slug)];
  for await (const pairs of hashPages(redis, userKeys(slug, userId).names, 500)) {
    const threads = pairs.map((pair) => threadEntryFrom(...pair));
    const owned = threads.flatMap(({ uid, threadId }) => [uid, `${userId} ${threadId}`]);
    const uids = threads.map(({ uid }) => uid);
    const [, scores] = await Promise.all([
      redis.write(owners, "HSET", owners, ...owned),
      redis.read(activity, "ZMSCORE", activity, ...uids),
    ]);
    const known = listOf(scores);
    const seen = await Promise.all(threads.map((thread) => glanceAt(redis, thread)));
    const unknown = seen.filter((_, nth) => known[nth] === null);
    await raise(
      redis,
      slug,
      unknown.map(({ uid, updatedAtMs }) => [uid, updatedAtMs]),
    );
    const busy = seen.filter(({ state }) => state !== "idle");
    await arrange(
      redis,
      slug,
      new Map(busy.map(({ uid, state, updatedAtMs }) => [uid, { state, atMs: updatedAtMs }])),
    );
  }
}
