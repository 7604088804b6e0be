import type { RedisCommands } from "./commands.ts";
import { FILLED_ALL, isFilled } from "./filled.ts";
import { asideTokenKey, globalKeys, tokenKey, userKeys } from "./keys.ts";
import type { RedisLink } from "./link.ts";
import { listOf, textOf, textOrNull } from "./records.ts";
import { partsOfKey, scanKeys } from "./scan.ts";

/*
 * A user's tokens: the user's record has a field for each, named by its hash. Steps that give a token to a user write
 * it (users.lua); tokens of earlier versions are added by one walk over all tokens, whose end is marked in
 * `filled:{g}`. The record may name tokens that have expired, or are another user's by now.
 */
const IS_HASH = /^[0-9a-f]{64}$/;

/** In `filled:{g}`; no slug begins with a space. */
const ALL_TOKENS = " tokens";

export function areTokensKnown(redis: Pick<RedisCommands, "read">): Promise<boolean> {
  return isFilled(redis, ALL_TOKENS);
}

async function tokensOf(redis: RedisCommands, slug: string, userId: string): Promise<string[]> {
  const { user } = userKeys(slug, userId);
  const fields = listOf(await redis.read(user, "HKEYS", user)).map(textOf);
  return fields.filter((field) => IS_HASH.test(field));
}

/** Null: an earlier version may have made a token that is not noted yet. */
export async function hasValidToken(
  redis: RedisCommands,
  slug: string,
  userId: string,
): Promise<boolean | null> {
  const { user } = userKeys(slug, userId);
  for (const hash of await tokensOf(redis, slug, userId)) {
    const keys = { token: tokenKey(slug, hash), user };
    if ((await redis.call("is_token_valid", keys, { userId })) === 1) return true;
  }
  return (await areTokensKnown(redis)) ? false : null;
}

export async function eraseTokensOf(redis: RedisCommands, slug: string, userId: string): Promise<void> {
  const hashes = await tokensOf(redis, slug, userId);
  await Promise.all(hashes.map((hash) => eraseToken(redis, slug, hash, userId)));
}

export async function eraseToken(
  redis: RedisCommands,
  slug: string,
  hash: string,
  userId: string,
): Promise<void> {
  const keys = { token: tokenKey(slug, hash), aside: asideTokenKey(slug, hash) };
  await redis.call("erase_token", keys, { userId });
}

/** The walk over all tokens, a page with each call; a process that takes over starts again. False: all are noted. */
export function createTokenFilling(
  link: Pick<RedisLink, "shards">,
  redis: RedisCommands,
): () => Promise<boolean> {
  const { filled } = globalKeys;
  let walk: AsyncIterator<string[]> | null = null;

  async function note(key: string): Promise<void> {
    const slug = partsOfKey(key)?.tag ?? "";
    const userId = textOrNull(await redis.read(key, "HGET", key, "user"));
    if (userId === null) return;
    await redis.call("note_token", { token: key, user: userKeys(slug, userId).user }, { userId });
  }

  return async function fillTokens() {
    if (await areTokensKnown(redis)) return false;
    walk ??= scanKeys(link, "v:{c:*")[Symbol.asyncIterator]();
    try {
      const page = await walk.next();
      if (page.done !== true) await Promise.all(page.value.map(note));
      else await redis.write(filled, "HSET", filled, ALL_TOKENS, FILLED_ALL);
      if (page.done === true) walk = null;
      return true;
    } catch (error) {
      walk = null;
      throw error;
    }
  };
}
