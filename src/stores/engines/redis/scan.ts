import type { RedisLink } from "./link.ts";
import { listOf, textOf } from "./answers.ts";

const KEYS_AT_ONCE = 1_000;

/**
 * All keys that match and exist during the whole walk, in pages, from all primaries; a key may come twice. While slots move
 * between nodes a key may be missed.
 */
export async function* scanKeys(link: Pick<RedisLink, "shards">, pattern: string): AsyncIterable<string[]> {
  for (const { server } of link.shards()) {
    let cursor = "0";
    do {
      const reply = await server.order("SCAN", cursor, "MATCH", pattern, "COUNT", String(KEYS_AT_ONCE));
      const [next, keys] = listOf(reply);
      cursor = textOf(next);
      const found = listOf(keys).map(textOf);
      if (found.length > 0) yield found;
    } while (cursor !== "0");
  }
}
