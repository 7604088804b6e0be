import { createCluster } from "redis";
import { redisClient } from "../support/redis-client.ts";

/**
 * Everything in a Redis as records, in the order of the keys, and back. `{t:*}` in a key stands for each of the 256
 * buckets of threads, where all of them hold the same.
 */
export type RedisRecord = { key: string; ttlMs?: number } & RedisValue;

type RedisValue =
  | { string: string }
  | { hash: Record<string, string> }
  | { list: string[] }
  | { set: string[] }
  | { sortedSet: Record<string, number> };

const BUCKETS = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));
const ANY_BUCKET = "{t:*}";

/** While nobody writes. Libraries of functions are not records: each version loads its own. */
export async function readRedis(url: string): Promise<RedisRecord[]> {
  const client = clientOf(url);
  await client.connect();
  try {
    const records: RedisRecord[] = [];
    for (const key of (await client.keys("*")).sort()) {
      const ttlMs = await client.pTTL(key);
      const value = await valueOf(client, key);
      if (value) records.push({ key, ...(ttlMs < 0 ? {} : { ttlMs }), ...value });
    }
    return inAllBuckets(records);
  } finally {
    client.destroy();
  }
}

function clientOf(url: string) {
  return redisClient(url);
}

type Client = ReturnType<typeof clientOf>;

/** null: it has expired meanwhile. */
async function valueOf(client: Client, key: string): Promise<RedisValue | null> {
  const type = await client.type(key);
  switch (type) {
    case "string":
      return { string: (await client.get(key)) ?? "" };
    case "hash":
      return { hash: Object.fromEntries(Object.entries(await client.hGetAll(key)).toSorted(byName)) };
    case "list":
      return { list: await client.lRange(key, 0, -1) };
    case "set":
      return { set: (await client.sMembers(key)).sort() };
    case "zset": {
      const members = await client.zRangeWithScores(key, 0, -1);
      return { sortedSet: Object.fromEntries(members.map(({ value, score }) => [value, score])) };
    }
    case "none":
      return null;
    default:
      throw new Error(`Cannot read ${key}: it is a ${type}`);
  }
}

/** What each bucket holds alike stands once. */
function inAllBuckets(records: RedisRecord[]): RedisRecord[] {
  const groups = new Map<string, RedisRecord[]>();
  for (const { ttlMs, ...record } of records) {
    const key = record.key.replace(/\{t:..\}/, ANY_BUCKET);
    const name = JSON.stringify({ ...record, key });
    groups.set(name, [...(groups.get(name) ?? []), { ...record, ...(ttlMs === undefined ? {} : { ttlMs }) }]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (group.length !== BUCKETS.length || first === undefined) return group;
    return [{ ...first, key: first.key.replace(/\{t:..\}/, ANY_BUCKET) }];
  });
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Into an empty Redis; with several addresses into the cluster that they belong to. What expires begins its time anew. */
export async function writeRedis(urls: string[], records: readonly RedisRecord[]): Promise<void> {
  const { send, size, close } = await connect(urls);
  try {
    if ((await size()) > 0) throw new Error("Cannot load the records: this Redis is not empty");
    const each = records.flatMap((record) =>
      record.key.includes(ANY_BUCKET)
        ? BUCKETS.map((bucket) => ({ ...record, key: record.key.replace(ANY_BUCKET, `{t:${bucket}}`) }))
        : [record],
    );
    await Promise.all(
      each.map(async (record) => {
        await send(record.key, commandFor(record));
        if (record.ttlMs !== undefined) await send(record.key, ["PEXPIRE", record.key, String(record.ttlMs)]);
      }),
    );
  } finally {
    close();
  }
}

function commandFor(record: RedisRecord): string[] {
  const { key } = record;
  if ("string" in record) return ["SET", key, record.string];
  if ("hash" in record) return ["HSET", key, ...Object.entries(record.hash).flat()];
  if ("list" in record) return ["RPUSH", key, ...record.list];
  if ("set" in record) return ["SADD", key, ...record.set];
  const members = Object.entries(record.sortedSet).flatMap(([member, score]) => [String(score), member]);
  return ["ZADD", key, ...members];
}

interface Connection {
  send: (key: string, command: string[]) => Promise<unknown>;
  /** How many keys there are. */
  size: () => Promise<number>;
  close: () => void;
}

async function connect(urls: string[]): Promise<Connection> {
  const [url] = urls;
  if (urls.length === 1 && url !== undefined) {
    const client = redisClient(url);
    await client.connect();
    return {
      send: (_, command) => client.sendCommand(command),
      size: () => client.dbSize(),
      close: () => client.destroy(),
    };
  }
  const cluster = createCluster({ rootNodes: urls.map((node) => ({ url: node })) });
  await cluster.connect();
  return {
    send: (key, command) => cluster.sendCommand(key, false, command),
    async size() {
      const sizes = await Promise.all(
        cluster.masters.map(async (node) => (await cluster.nodeClient(node)).dbSize()),
      );
      return sizes.reduce((sum, keys) => sum + keys, 0);
    },
    close: () => cluster.destroy(),
  };
}
