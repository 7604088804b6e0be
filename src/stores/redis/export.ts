import type { MessageClaim } from "../../domain/message-claim.ts";
import type {
  BackupAudit,
  BackupStats,
  BackupToken,
  BackupUser,
  KeptPart,
  ThreadPiece,
  ToldOfThread,
  WholeThread,
} from "../backup/records.ts";
import type { RunSummary } from "../../store/threads.ts";
import type { BackupSource, ThreadRead, UserRead } from "../backup/source.ts";
import { FIRST_FORMAT } from "../format.ts";
import { bucketOf } from "../buckets.ts";
import { readRun, readRunSummary, readState, readUserMessage } from "../records.ts";
import { redisChannels } from "./channels.ts";
import { contentKeysFrom } from "./content-keys.ts";
import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { dueKey, globalKeys, goneKey, threadKeys, userKeys, usersKey } from "./keys.ts";
import type { RedisLink } from "./link.ts";
import {
  catalogFrom,
  listOf,
  messageFrom,
  numberOf,
  pairsOf,
  parsed,
  renamedFrom,
  textOf,
  textOrNull,
  threadEntryFrom,
  userFrom,
} from "./records.ts";
import { placedEntry, redisOperators } from "./operators.ts";
import { hashPages, scoresOf } from "./pages.ts";
import { partsOfKey, scanKeys } from "./scan.ts";
import { dayStatsOf } from "./stats.ts";
import { redisCounts } from "./counts.ts";

const USERS_AT_ONCE = 64;
/** Entries of each list or hash that are read together with their thread or user. */
const MOST = 50;
const MOST_PARTS = 8;
/** Entries of a longer one that are read at once. */
const PAGE = 500;
const PARTS_PAGE = 32;

/** Reads the format and does not raise it: a service of an older version may be using this Redis. */
export async function redisFormat(redis: RedisCommands): Promise<number> {
  const { format } = globalKeys;
  return numberOf((await redis.read(format, "GET", format)) ?? FIRST_FORMAT);
}

/**
 * Redis as the source of a backup: each thread and user is read in one step; if it is long, its growing parts follow
 * in pages.
 */
export function redisSource(link: RedisLink, redis: RedisCommands): Omit<BackupSource, "close"> {
  const { channels, blockedIps } = redisChannels(redis);

  async function readUser(slug: string, userId: string): Promise<UserRead | null> {
    const keys = { ...userKeys(slug, userId), users: usersKey(slug) };
    const reply = await redis.ask("export_user", keys, { userId, most: String(MOST) });
    // Merged meanwhile.
    if (reply === null) return null;
    const [user, place, days, nameCount, names, revocations, wrapped] = listOf(reply);
    const entries = pairsOf(names ?? null).map(([name, entry]) => threadEntryFrom(name, entry));
    return {
      record: userRecord(slug, {
        user,
        place: place ?? null,
        days: days ?? null,
        revocations: revocations ?? null,
        contentKeys: contentKeysFrom(wrapped ?? []),
      }),
      names: numberOf(nameCount) > MOST ? null : entries,
    };
  }

  return {
    kind: "redis",
    format: () => redisFormat(redis),
    counts: () => redisCounts(link, redis),
    channels,
    blockedIps,

    operators: () => redisOperators(redis).operators(),

    async isEncrypted() {
      return Number(await redis.read(globalKeys.wrappers, "HLEN", globalKeys.wrappers)) > 0;
    },

    async *audit() {
      for await (const pairs of hashPages(redis, globalKeys.audit, PAGE, "ZSCAN")) {
        yield pairs.map(backupAudit);
      }
    },

    async *stats() {
      for await (const keys of scanKeys(link, "st:{c:*")) {
        const days = keys.map(async (key): Promise<BackupStats[]> => {
          const { tag: slug, id: day } = partsOfKey(key) ?? { tag: "", id: "" };
          const stats = await dayStatsOf(redis, slug, day);
          return stats ? [{ type: "stats", slug, ...stats }] : [];
        });
        yield (await Promise.all(days)).flat();
      }
    },

    async *users(slug, which) {
      for await (const ids of userIds(redis, slug)) {
        const read = await Promise.all(ids.map((id) => readUser(slug, id)));
        yield read
          .filter((user) => user !== null)
          .filter(({ record }) => (record.user.externalId === null) === (which === "anonymous"));
      }
    },

    async *names(slug, userId) {
      const { names } = userKeys(slug, userId);
      for await (const pairs of hashPages(redis, names, PAGE)) {
        yield pairs.map(([name, entry]) => threadEntryFrom(name, entry));
      }
    },

    async thread(uid) {
      const keys = { ...threadKeys(uid), due: dueKey(bucketOf(uid)) };
      const args = { uid, most: String(MOST), mostParts: String(MOST_PARTS) };
      const reply = await redis.ask("export_thread", keys, args);
      return reply === null ? null : threadRead(redis, uid, listOf(reply));
    },

    async *deletions() {
      for (const { slug } of await channels(() => {})) {
        for await (const pairs of hashPages(redis, goneKey(slug), PAGE, "ZSCAN")) {
          yield pairs.map(([member, atMs]) => {
            const kind = member.startsWith("u ") ? ("user" as const) : ("thread" as const);
            return { kind, slug, id: member.slice(2), atMs: Number(atMs) };
          });
        }
      }
    },

    async *tokens() {
      for await (const keys of scanKeys(link, "v:{c:*")) {
        const tokens = await Promise.all(keys.map((key) => tokenOf(redis, key)));
        yield tokens.filter((token) => token !== null);
      }
    },
  };
}

function backupAudit(pair: [member: string, score: string]): BackupAudit {
  return { type: "audit", nth: Number(pair[1]) % 1000, entry: placedEntry(pair).entry };
}

/** A channel's users by creation. Paged by score and not by rank, because ranks change when users are merged. */
async function* userIds(redis: RedisCommands, slug: string): AsyncIterable<string[]> {
  const key = usersKey(slug);
  let from = "-inf";
  let met = new Set<string>();
  for (let limit = USERS_AT_ONCE; ;) {
    const range = ["ZRANGE", key, from, "+inf", "BYSCORE", "LIMIT", "0", String(limit), "WITHSCORES"];
    const pairs = scoresOf(await redis.read(key, ...range));
    const last = pairs.at(-1);
    const fresh = pairs.map(([id]) => id).filter((id) => !met.has(id));
    if (fresh.length > 0) yield fresh;
    if (last === undefined || pairs.length < limit) return;
    // All of them have the same score: the next page must reach beyond it.
    limit = last[1] === from ? limit * 2 : USERS_AT_ONCE;
    met = new Set(pairs.filter(([, place]) => place === last[1]).map(([id]) => id));
    from = last[1];
  }
}

function userRecord(
  slug: string,
  read: {
    user: Reply | undefined;
    place: Reply;
    days: Reply;
    revocations: Reply;
    contentKeys: Record<string, string>;
  },
): BackupUser {
  const place = numberOf(read.place ?? 0);
  return {
    type: "user",
    slug,
    user: userFrom(read.user),
    createdAtMs: Math.floor(place / 1000),
    nth: place % 1000,
    // A merge stores its sums under names with a space.
    spent: pairsOf(read.days)
      .filter(([day]) => !day.includes(" "))
      .map(([day, tokens]) => ({ day, tokens: Number(tokens) })),
    ...(read.revocations === null ? {} : { revocations: numberOf(read.revocations) }),
    ...(Object.keys(read.contentKeys).length === 0 ? {} : { contentKeys: read.contentKeys }),
  };
}

async function tokenOf(redis: RedisCommands, key: string): Promise<BackupToken | null> {
  const { tag: slug, id: tokenHash } = partsOfKey(key) ?? { tag: "", id: "" };
  const [fields, expiry] = await Promise.all([
    redis.read(key, "HGETALL", key),
    redis.read(key, "PEXPIRETIME", key),
  ]);
  const bound = new Map(pairsOf(fields));
  const [userId, snapshot] = [bound.get("user"), bound.get("snapshot")];
  const [revocations, ends, renamed] = [bound.get("revocations"), bound.get("ends"), renamedFrom(fields)];
  const expiresAtMs = numberOf(expiry);
  if (!userId || typeof snapshot !== "string" || expiresAtMs < 0) return null;
  const more = {
    ...(revocations ? { revocations: Number(revocations) } : {}),
    ...(ends ? { endsAtMs: Number(ends) } : {}),
    ...(renamed.length > 0 ? { renamed } : {}),
  };
  return { type: "token", slug, tokenHash, userId, snapshot, expiresAtMs, ...more };
}

function threadRead(redis: RedisCommands, uid: string, reply: Reply[]): ThreadRead {
  const [fields, due, queue, messageCount, messages, runCount, runIds, summaries] = reply;
  const [partCount, parts, claimCount, claims, toldCount, entries] = reply.slice(8);
  const [slug, rev, fence, state, snapshot, catalog, run, createdAtMs, told] = listOf(fields);
  const waiting = listOf(queue).map((entry) => {
    const text = textOf(entry);
    return parsed(readUserMessage, text.slice(text.indexOf("\n") + 1), uid);
  });
  const counts = {
    messages: numberOf(messageCount),
    runs: numberOf(runCount),
    parts: numberOf(partCount),
    claims: numberOf(claimCount),
    told: numberOf(toldCount),
  };
  const thread: WholeThread = {
    type: "thread",
    uid,
    first: true,
    slug: textOf(slug),
    createdAtMs: createdAtMs ? numberOf(createdAtMs) : null,
    rev: numberOf(rev ?? "0"),
    fence: textOrNull(fence),
    state: readState(state ?? "idle", uid),
    snapshot: textOrNull(snapshot),
    catalog: catalogFrom(catalog, uid),
    run: run ? parsed(readRun, run, uid) : null,
    waiting,
    dueAtMs: due === null || due === undefined ? null : numberOf(due),
    ...(told ? { told: toldOf(numberOf(told), pairsOf(entries ?? null)) } : {}),
    messagesFrom: 0,
    messages: listOf(messages).map((entry) => messageFrom(entry, uid)),
    runsFrom: 0,
    runs: summariesFrom(summaries, uid),
    parts: pairsOf(parts ?? null).map(partFrom),
    claims: pairsOf(claims ?? null).map(claimFrom),
  };
  const isWhole =
    counts.messages <= MOST &&
    counts.runs <= MOST &&
    counts.parts <= MOST_PARTS &&
    counts.claims <= MOST &&
    counts.told <= MOST;
  if (isWhole) return { first: thread, rest: null };

  const { messages: firstMessages, runs: firstRuns, parts: firstParts, claims: firstClaims } = thread;
  const head = { type: "piece", uid, messagesFrom: 0, runsFrom: 0 } as const;
  const first: ThreadPiece = {
    ...head,
    first: true,
    messages: firstMessages,
    runs: firstRuns,
    parts: firstParts,
    claims: firstClaims,
  };
  const waited = new Set(waiting.map(({ runId }) => runId));
  const runsRead = listOf(runIds).length;
  return { first, rest: restOf(redis, { thread, counts, runsRead, waited }) };
}

/**
 * The rest of a long thread. Messages and runs up to the counts stay where they are; claims of later runs are left
 * out.
 */
async function* restOf(
  redis: RedisCommands,
  read: {
    thread: WholeThread;
    counts: { messages: number; runs: number; parts: number; claims: number; told: number };
    runsRead: number;
    waited: ReadonlySet<string>;
  },
): AsyncIterable<ThreadPiece | WholeThread> {
  const { thread, counts, runsRead, waited } = read;
  const { uid } = thread;
  const keys = threadKeys(uid);
  const none = { messages: [], runs: [], parts: [], claims: [] };
  const full = { type: "piece", uid, first: false, ...none } as const;
  const at = { messagesFrom: counts.messages, runsFrom: counts.runs };
  const range = (key: string, from: number, count: number) =>
    redis.read(key, "LRANGE", key, String(from), String(Math.min(from + PAGE, count) - 1));

  for (let from = thread.messages.length; from < counts.messages; from += PAGE) {
    const entries = listOf(await range(keys.messages, from, counts.messages));
    const messages = entries.map((entry) => messageFrom(entry, uid));
    yield { ...full, messagesFrom: from, runsFrom: runsRead, messages };
  }
  for (let from = runsRead; from < counts.runs; from += PAGE) {
    const ids = listOf(await range(keys.runOrder, from, counts.runs)).map(textOf);
    const runs = summariesFrom(await redis.read(keys.runs, "HMGET", keys.runs, ...ids), uid);
    yield { ...full, messagesFrom: counts.messages, runsFrom: from, runs };
  }
  if (counts.parts > MOST_PARTS) {
    for await (const pairs of hashPages(redis, keys.parts, PARTS_PAGE)) {
      yield { ...full, ...at, parts: pairs.map(partFrom) };
    }
  }
  if (counts.claims > MOST) {
    for await (const pairs of hashPages(redis, keys.messageIds, PAGE)) {
      // Read after the claims, so that it has the run of every claim that is later than the thread as it was read.
      const [started, waiting] = await Promise.all([
        redis.read(keys.runOrder, "LRANGE", keys.runOrder, String(counts.runs), "-1"),
        redis.read(keys.queue, "LRANGE", keys.queue, "0", "-1"),
      ]);
      const waits = listOf(waiting).map((entry) => textOf(entry).split("\n", 1)[0] ?? "");
      const later = new Set([...listOf(started).map(textOf), ...waits].filter((runId) => !waited.has(runId)));
      yield { ...full, ...at, claims: pairs.map(claimFrom).filter(({ runId }) => !later.has(runId)) };
    }
  }
  const { told } = thread;
  if (told && counts.told > MOST) {
    for await (const pairs of hashPages(redis, keys.outbox, PAGE)) {
      told.waiting.push(...toldOf(told.count, pairs).waiting);
    }
  }
  yield { ...thread, first: false, ...at, ...none };
}

/** Without runs that are listed but have no summary. */
function summariesFrom(texts: Reply | undefined, uid: string): RunSummary[] {
  return listOf(texts)
    .filter((text) => text !== null)
    .map((text) => parsed(readRunSummary, text, uid));
}

function partFrom([name, text]: [string, string]): KeptPart {
  const colon = name.lastIndexOf(":");
  return { runId: name.slice(0, colon), nth: Number(name.slice(colon + 1)), text };
}

/** Without the events of later commits. */
function toldOf(count: number, entries: [field: string, text: string][]): ToldOfThread {
  const waiting = entries
    .map(([field, text]) => {
      const [nth = "", endpoint = ""] = field.split(" ");
      return { nth, endpoint, text };
    })
    .filter(({ nth }) => Number(nth) <= count);
  return { count, waiting };
}

function claimFrom([clientMessageId, claimed]: [string, string]): MessageClaim {
  const [runId = "", textHash = ""] = claimed.split(":");
  return { clientMessageId, runId, textHash };
}
