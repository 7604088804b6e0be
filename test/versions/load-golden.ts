import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { unpackEmbedded } from "./embedded-records.ts";
import type { Golden } from "./golden.ts";
import { readLines } from "./readable.ts";
import { writeRedis } from "./redis-records.ts";
import type { RedisRecord } from "./redis-records.ts";

/**
 * Puts the records of a Redis back on an empty one; several addresses: on the cluster that they belong to. What expires
 * has as much time left as it had then; other times are as they were.
 */
export async function loadIntoRedis(golden: Golden, urls: string[]): Promise<void> {
  await writeRedis(urls, readLines<RedisRecord>(join(golden.folder, "records.jsonl")));
}

/** Puts the embedded store's records, and the keys that were beside them, into a DATA_DIR without a store. */
export async function loadIntoFolder({ folder, facts }: Golden, dataDir: string): Promise<void> {
  await unpackEmbedded(readFileSync(join(folder, "data.mdb.gz")), dataDir, facts.takenAtMs);
  const keys = join(folder, "keys.json");
  if (existsSync(keys)) copyFileSync(keys, join(dataDir, "keys.json"));
}
