import type { RedisLink } from "./link.ts";
import { listOf, numberOf, textOf } from "./records.ts";
import type { Server } from "./server.ts";

const KEYS_AT_ONCE = 1_000;

/**
 * All keys that exist during the whole walk, in pages, from all primaries; a key may come twice. While slots move
 * between nodes a key may be missed.
 */
export async function* scanKeys(
  link: Pick<RedisLink, "shards">,
  pattern: string | null = null,
): AsyncIterable<string[]> {
  const match = pattern === null ? [] : ["MATCH", pattern];
  for (const { server } of link.shards()) {
    let cursor = "0";
    do {
      const reply = await server.order("SCAN", cursor, ...match, "COUNT", String(KEYS_AT_ONCE));
      const [next, keys] = listOf(reply);
      cursor = textOf(next);
      const found = listOf(keys).map(textOf);
      if (found.length > 0) yield found;
    } while (cursor !== "0");
  }
}

/** `KIND:{PLANE:TAG}` and, for most kinds, an id. */
const KEY = /^(?<kind>\w+):\{(?<plane>[ctg]):?(?<tag>[^}]*)\}(?::(?<id>.*))?$/su;

/** The parts of a key's name (keys.ts); null: not one of ours. */
export function partsOfKey(key: string): { kind: string; tag: string; id: string } | null {
  const groups = KEY.exec(key)?.groups;
  return groups ? { kind: groups["kind"] ?? "", tag: groups["tag"] ?? "", id: groups["id"] ?? "" } : null;
}

/** The server's own clock. */
export async function timeOf(server: Server): Promise<number> {
  const [seconds, micros] = listOf(await server.order("TIME"));
  return numberOf(seconds) * 1000 + Math.floor(numberOf(micros) / 1000);
}
