import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { listOf, pairsOf, textOf } from "./records.ts";

/** A hash, or a sorted set with its scores, in pages; an entry may come twice. */
export async function* hashPages(
  redis: Pick<RedisCommands, "read">,
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

/** Members of a sorted set with their scores, which are pairs in RESP3. */
export function scoresOf(reply: Reply): [member: string, score: string][] {
  return listOf(reply).map((pair) => {
    const [member, score] = listOf(pair);
    return [textOf(member), String(score)];
  });
}
