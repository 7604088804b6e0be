import { systemClock } from "../../src/clock.ts";
import { DELETED_FENCE } from "../../src/domain/threads/fence.ts";
import { textOfEntry } from "../../src/stores/engine.ts";
import type { Engine } from "../../src/stores/engine.ts";
import { openLmdbEngine } from "../../src/stores/engines/lmdb/engine.ts";
import { openRedisEngine } from "../../src/stores/engines/redis/open.ts";
import { isThreadState } from "../../src/stores/records/records.ts";
import { threadEntryFrom, USER_FIELDS, userFrom } from "../../src/stores/steps/users/user-record.ts";
import { bucketOf, HEADER, tables, TOKEN } from "../../src/stores/tables.ts";
import { walk } from "../../src/stores/walk.ts";
import type { WalkedKey } from "../../src/stores/walk.ts";
import type { StoreDump, ThreadDump } from "./twin/invariants.ts";

export async function dumpEmbedded(dataDir: string): Promise<StoreDump> {
  return dumpAndClose(await openLmdbEngine({ dataDir, clock: systemClock }));
}

/** One server, or nodes of a cluster. */
export async function dumpRedis(urls: string[]): Promise<StoreDump> {
  return dumpAndClose((await openRedisEngine({ urls, durability: "local", log: { warn() {} } })).engine);
}

async function dumpAndClose(engine: Engine): Promise<StoreDump> {
  try {
    return await dumpStore(engine);
  } finally {
    await engine.close();
  }
}

/** Reads everything in a store past the store's own operations, while nobody writes. */
export async function dumpStore(engine: Engine): Promise<StoreDump> {
  const dump: StoreDump = {
    users: [],
    accounts: [],
    listed: [],
    tokens: [],
    deleting: [],
    names: [],
    threads: [],
    held: [],
    due: [],
  };
  const keys: WalkedKey[] = [];
  for await (const page of walk(engine)) keys.push(...page);
  for (const key of keys.sort((a, b) => (a.key < b.key ? -1 : 1))) await readKey(engine, key, dump);
  return dump;
}

async function readKey(engine: Engine, { table, key, tag, id }: WalkedKey, dump: StoreDump): Promise<void> {
  const fields = async (...names: string[]) =>
    (await engine.read([{ read: "fields", key, fields: names }]))[0];
  const pairs = async () => (await engine.read([{ read: "hash", key }]))[0];
  const members = async () => (await engine.read([{ read: "range", key }]))[0];
  if (table === "user") {
    const user = userFrom(await fields(...USER_FIELDS));
    if (user) dump.users.push({ slug: tag, user });
  } else if (table === "external") {
    dump.accounts.push({ slug: tag, userId: (await fields("user"))[0] ?? "" });
  } else if (table === "users") {
    for (const [userId] of await members()) dump.listed.push({ slug: tag, userId });
  } else if (table === "token") {
    dump.tokens.push({ slug: tag, userId: (await fields(TOKEN.user))[0] ?? "" });
  } else if (table === "deleting") {
    for (const [member] of await members()) {
      const [kind, slug = "", userId = ""] = member.split(" ");
      if (kind === "user") dump.deleting.push({ slug, userId });
    }
  } else if (table === "names") {
    for (const [name, text] of await pairs()) {
      dump.names.push({ slug: tag, userId: id, entry: threadEntryFrom(name, text) });
    }
  } else if (table === "header") {
    // A tombstone is no thread.
    const [fence] = await fields(HEADER.fence);
    if (!fence?.startsWith(DELETED_FENCE)) dump.threads.push(await threadDump(engine, id));
  } else if (table === "held") {
    for (const [uid, fence] of await pairs()) {
      const holders = tables.holders.key(bucketOf(uid));
      const [[listed]] = await engine.read([{ read: "fields", key: holders, fields: [id] }]);
      dump.held.push({ processId: id, uid, fence, isListed: listed !== null });
    }
  } else if (table === "due") {
    for (const [uid, atMs] of await members()) dump.due.push({ uid, atMs });
  }
}

/** What a JSON text says of a message or a run. */
const said = (json: string) => JSON.parse(json) as { id: string; runId: string; outcome?: string | null };

async function threadDump(engine: Engine, uid: string): Promise<ThreadDump> {
  const key = tables.header.key(uid);
  const [header, messages, waiting, runs, order] = await engine.read([
    { read: "hash", key },
    { read: "hash", key: tables.messages.key(uid) },
    { read: "hash", key: tables.waiting.key(uid) },
    { read: "hash", key: tables.runs.key(uid) },
    { read: "range", key: tables.runOrder.key(uid) },
  ]);
  const ended = order.map(([runId]) => runId);
  const listed = runs.map(([runId]) => runId);
  if (listed.sort().join() !== ended.toSorted().join()) {
    throw new Error(`Cannot dump the store: the runs of ${uid} and their order differ`);
  }
  const field = new Map(header.filter(([, value]) => value !== ""));
  const state = field.get(HEADER.state);
  const text = field.get(HEADER.run);
  const run = text === undefined ? null : said(text);
  if ((run?.runId ?? null) !== (field.get(HEADER.runId) ?? null)) {
    throw new Error(`Cannot dump the store: the last run of ${uid} has another id`);
  }
  const count = Number(field.get(HEADER.messages) ?? 0);
  // Those beyond the count were never committed.
  const counted = messages
    .filter(([number]) => Number(number) <= count)
    .sort(([a], [b]) => Number(a) - Number(b));
  return {
    uid,
    rev: Number(field.get(HEADER.rev) ?? 0),
    fence: field.get(HEADER.fence) ?? null,
    state: isThreadState(state) ? state : "idle",
    snapshot: field.get(HEADER.snapshot) ?? null,
    dueAtMs: field.has(HEADER.dueAtMs) ? Number(field.get(HEADER.dueAtMs)) : null,
    runId: run?.runId ?? null,
    messageCount: count,
    messageIds: counted.map(([, entry]) => said(textOfEntry(entry)).id),
    runIds: run?.outcome === null ? [...ended, run.runId] : ended,
    queue: field.get(HEADER.waiting)?.split(" ") ?? [],
    waiting: waiting.map(([, json]) => said(json).runId),
  };
}
