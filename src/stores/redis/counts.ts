import type { Counts } from "../backup/records.ts";
import type { RedisCommands } from "./commands.ts";
import { globalKeys, usersKey } from "./keys.ts";
import type { RedisLink } from "./link.ts";
import { listOf, numberOf, textOf } from "./records.ts";
import { partsOfKey, scanKeys } from "./scan.ts";

/** Walks over the names of all keys; only threads are read, for whether they were deleted and how long they are. */
export async function redisCounts(link: RedisLink, redis: RedisCommands): Promise<Counts> {
  const slugs = listOf(await redis.read(globalKeys.channels, "SMEMBERS", globalKeys.channels)).map(textOf);
  const users = await Promise.all(slugs.map((slug) => redis.read(usersKey(slug), "ZCARD", usersKey(slug))));
  const counts = {
    channels: slugs.length,
    users: users.map(numberOf).reduce((sum, each) => sum + each, 0),
    threads: 0,
    tokens: 0,
    messages: 0,
  };
  for await (const keys of scanKeys(link)) {
    const kinds = keys.map((key) => partsOfKey(key)?.kind);
    const headers = keys.filter((_, i) => kinds[i] === "h");
    // A tombstone has no slug.
    const known = await Promise.all(headers.map((key) => redis.read(key, "HEXISTS", key, "slug")));
    counts.threads += known.filter((answer) => answer === 1).length;
    counts.tokens += kinds.filter((kind) => kind === "v").length;
    const lists = keys.filter((_, i) => kinds[i] === "m");
    const lengths = await Promise.all(lists.map((key) => redis.read(key, "LLEN", key)));
    for (const length of lengths) counts.messages += numberOf(length);
  }
  return counts;
}
