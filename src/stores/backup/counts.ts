import { slotOf } from "../engine.ts";
import { isDeleted } from "../steps/threads/facts.ts";
import { HEADER, tables } from "../tables.ts";
import { prefixOf } from "../walk.ts";
import type { Reader } from "../walk.ts";
import { grouped } from "../steps/grouped.ts";
import type { Counts } from "./records.ts";

/** How much there is of everything: the keys of tokens and threads are walked over, and only the headers are read. */
export async function countsOf(reader: Reader): Promise<Counts> {
  const [channels] = await reader.read([{ read: "hash", key: tables.channels.key }]);
  const counts: Counts = { channels: channels.length, users: 0, threads: 0, tokens: 0, messages: 0 };
  for (const [slug] of channels) {
    const [users] = await reader.read([{ read: "number", key: tables.users.key(slug) }]);
    counts.users += users;
  }
  for await (const keys of reader.keys(prefixOf(tables.token))) counts.tokens += keys.length;
  for await (const keys of reader.keys(prefixOf(tables.header))) {
    const lengths = [...grouped(keys, slotOf).values()].map((headers) => lengthsOf(reader, headers));
    for (const messages of (await Promise.all(lengths)).flat()) {
      counts.threads += 1;
      counts.messages += messages;
    }
  }
  return counts;
}

/** How many messages each of these threads has, without those that were deleted. */
async function lengthsOf(reader: Reader, headers: readonly string[]): Promise<number[]> {
  const fields = [HEADER.slug, HEADER.fence, HEADER.messages];
  const read = await reader.read(headers.map((key) => ({ read: "fields" as const, key, fields })));
  return read
    .filter(([slug, fence]) => slug && !isDeleted({ fence: fence ?? null }))
    .map(([, , messages]) => Number(messages ?? 0));
}
