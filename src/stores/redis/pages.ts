import type { RedisCommands } from "./commands.ts";
import { listOf, pairsOf, textOf } from "./records.ts";

/** A hash, or a sorted set with its scores, in pages; a field may come twice. */
export async function* hashPages(
  redis: RedisCommands,
  key: string,
  count: number,
  command: "HSCAN" | "ZSCAN" = "HSCAN",
): AsyncIterable<[field: string, value: string][]> {
  let cursor = "0";
  do {
    const [next, pairs] = listOf(await redis.read(key, command, key, cursor, "COUNT", String(count)));
    cursor = textOf(next);
    const found = pairsOf(pairs ?? null);
    if (found.length > 0) yield found;
  } while (cursor !== "0");
}
