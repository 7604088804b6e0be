import type { createClient } from "redis";

type Client = Pick<ReturnType<typeof createClient>, "sendCommand">;

const READ: Record<string, (key: string) => string[]> = {
  string: (key) => ["GET", key],
  hash: (key) => ["HGETALL", key],
  list: (key) => ["LRANGE", key, "0", "-1"],
  set: (key) => ["SMEMBERS", key],
  zset: (key) => ["ZRANGE", key, "0", "-1", "WITHSCORES"],
};

/** When a process was heard of, how often something changed, which may be counted twice, and who watches until when. */
const PASSING = /^(instances:\{g\}|changes:\{g\}|watch:.*)$/;

/** Every key of a server with what it holds, in an order of its own. */
export async function contentsOf(client: Client): Promise<Record<string, unknown>> {
  const keys = await client.sendCommand<string[]>(["KEYS", "*"]);
  const contents: Record<string, unknown> = {};
  for (const key of keys.sort()) {
    if (PASSING.test(key)) continue;
    const type = await client.sendCommand<string>(["TYPE", key]);
    const value = await client.sendCommand<unknown>(READ[type]?.(key) ?? ["TYPE", key]);
    const expires = (await client.sendCommand<number>(["PTTL", key])) > 0;
    contents[key] = { value: type === "hash" || type === "set" ? sorted(type, value) : value, expires };
  }
  return contents;
}

/** Fields with their values, or members, by name: Redis gives them in any order. */
function sorted(type: string, value: unknown): unknown {
  const flat = Array.isArray(value) ? value.map(String) : [];
  if (type === "set") return flat.sort();
  const fields = flat.flatMap((field, i) => (i % 2 === 0 ? [[field, flat[i + 1]]] : []));
  return fields.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
}
