import type { Message } from "../../domain/threads/message.ts";
import { answererSince } from "../answerer-since.ts";
import type { Pair, Write } from "../engine.ts";
import { catalogKind, runKind, summaryKind, waitingKind } from "../records/records.ts";
import { storedSummaryFrom } from "../records/stored-records.ts";
import { KNOWLEDGE, pageWrites, sourceField } from "../steps/knowledge.ts";
import { auditMember } from "../steps/operators.ts";
import { RESTORED_VISITORS, STATS_KEPT_MS } from "../steps/stats.ts";
import { claimWrite } from "../steps/threads/claims.ts";
import { entryOf } from "../steps/threads/commit-writes.ts";
import { catalogIdOf } from "../steps/threads/records.ts";
import { ownerText } from "../steps/users/new-thread.ts";
import { USER_FIELDS, userTexts } from "../steps/users/user-record.ts";
import { bucketOf, externalId as hashOf, HEADER, PLACES_PER_MS, tables, TOKEN, USER } from "../tables.ts";
import { keyIdOf } from "../content-keys/cipher.ts";
import type {
  BackupNames,
  BackupRecord,
  BackupStats,
  BackupToken,
  BackupUser,
  ThreadPiece,
  WholeThread,
} from "./records.ts";

/** Runs of a backup come before all that begin later, whose place is a revision. */
const BEFORE_REVISIONS = 2 ** 40;

/**
 * A record of a backup as writes, in any slots; each may be repeated. Channels, addresses and operators come with the end
 * of a restore; tokens after their users (tokenWrites), and the orders after the threads (orderWrites).
 */
export function recordWrites(record: BackupRecord, nowMs: number): Write[] {
  switch (record.type) {
    case "names":
      return namesWrites(record);
    case "audit": {
      const { nth, entry } = record;
      const place = entry.atMs * PLACES_PER_MS + Math.min(nth, PLACES_PER_MS - 1);
      return put(tables.audit.key, [auditMember(place, entry)]);
    }
    case "stats":
      return statsWrites(record, nowMs);
    case "source":
      return set(tables.knowledge.key(record.slug), [
        sourceField(record.source),
        [KNOWLEDGE.rev, record.source.settings],
      ]);
    case "page":
      return pageWrites(record.slug, record.source, record.page, record.document);
    case "user":
      return userWrites(record);
    case "piece":
      return listWrites(record);
    case "thread":
      return [...listWrites(record), ...threadWrites(record)];
    case "channel":
    case "address":
    case "operator":
    case "token":
    case "moved":
      return [];
  }
}

function namesWrites({ slug, userId, names }: BackupNames): Write[] {
  const owned = names.map(({ threadId, uid }): Pair => [uid, ownerText(userId, threadId)]);
  const active = names.map(({ uid, createdAtMs }) => [uid, createdAtMs] as const);
  const named = names.map(({ threadId, uid, createdAtMs }): Pair => [threadId, `${uid} ${createdAtMs}`]);
  return [
    ...set(tables.owners.key(slug), owned),
    ...put(tables.activity.key(slug), active, "raise"),
    ...set(tables.names.key(slug, userId), named),
  ];
}

function statsWrites({ slug, day, counts, visitors, speakers = [] }: BackupStats, nowMs: number): Write[] {
  const atMs = Date.parse(day) + STATS_KEPT_MS;
  if (atMs <= nowMs) return [];
  const [stats, sketch] = [tables.stats.key(slug, day), tables.speakers.key(slug, day)];
  const others = visitors - speakers.length;
  const numbers = Object.entries(counts);
  if (others > 0) numbers.push([RESTORED_VISITORS, others]);
  const fields = numbers.map(([name, number]): Pair => [name, String(number)]);
  return [
    ...set(stats, fields),
    ...(speakers.length > 0 ? [{ write: "count" as const, key: sketch, members: speakers }] : []),
    { write: "end", key: stats, atMs },
    { write: "end", key: sketch, atMs },
  ];
}

/** The record comes last: without it there is no user. */
function userWrites({ slug, user, createdAtMs, nth, spent, ...more }: BackupUser): Write[] {
  const { revocations, contentKeys = {} } = more;
  const { userId, externalId } = user;
  const place = [[userId, createdAtMs * PLACES_PER_MS + nth]] as const;
  const texts = userTexts(user);
  return [
    ...put(tables.users.key(slug), place),
    ...(user.blocked ? put(tables.blocked.key(slug), place) : []),
    ...set(
      tables.days.key(slug, userId),
      spent.map(({ day, tokens }) => [day, String(tokens)]),
    ),
    ...set(tables.contentKeys.key(slug, userId), Object.entries(contentKeys)),
    ...(externalId === null ? [] : set(tables.external.key(slug, hashOf(externalId)), [["user", userId]])),
    ...set(
      tables.user.key(slug, userId),
      present([
        ...USER_FIELDS.map((field, i) => [field, texts[i] ?? null] as const),
        [USER.revocations, revocations ?? null],
      ]),
    ),
  ];
}

/** The ids of the keys of CONTENT_KEYS that wrap a user's keys: a start requires them. */
export function wrappersOf(record: BackupRecord): string[] {
  if (record.type !== "user") return [];
  return Object.values(record.contentKeys ?? {}).map((wrapped) => keyIdOf(wrapped) ?? "");
}

/** Nothing of a token that has expired. */
export function tokenWrites(token: BackupToken, nowMs: number): Write[] {
  const { slug, tokenHash, userId, snapshot, expiresAtMs, revocations, endsAtMs, renamed = [] } = token;
  if (expiresAtMs <= nowMs) return [];
  const key = tables.token.key(slug, tokenHash);
  const fields = present([
    [TOKEN.user, userId],
    [TOKEN.snapshot, snapshot],
    [TOKEN.revocations, revocations ?? null],
    [TOKEN.ends, endsAtMs ?? null],
    ...renamed.map(({ said, stored }) => [TOKEN.renamed(said), stored] as const),
  ]);
  return [
    ...set(tables.tokens.key(slug, userId), [[tokenHash, ""]]),
    ...set(key, fields),
    { write: "end", key, atMs: expiresAtMs },
  ];
}

function listWrites(piece: ThreadPiece | WholeThread): Write[] {
  const { uid, messagesFrom, messages, runsFrom, runs, parts, claims } = piece;
  const summaries = runs.map((run): Pair => [
    run.runId,
    JSON.stringify(summaryKind.stored(storedSummaryFrom(run))),
  ]);
  return [
    ...set(
      tables.messages.key(uid),
      messages.map((message, i) => entryOf(messagesFrom + i + 1, message)),
    ),
    ...set(tables.runs.key(uid), summaries),
    ...put(
      tables.runOrder.key(uid),
      runs.map(({ runId }, i) => [runId, runsFrom + i - BEFORE_REVISIONS]),
    ),
    ...set(
      tables.parts.key(uid),
      parts.map(({ runId, nth, text }) => [`${runId}:${nth}`, text]),
    ),
    ...claims.map((claim) => claimWrite(uid, claim, null)),
  ];
}

/** The header comes last: without it there is no thread. Holds and deadlines are noted where nobody looks. */
function threadWrites(thread: WholeThread): Write[] {
  const { uid, slug, fence, state, rev, snapshot, catalog, waiting, dueAtMs, told } = thread;
  const bucket = bucketOf(uid);
  const run = thread.run && JSON.stringify(runKind.stored(thread.run));
  const events = told?.waiting ?? [];
  const queued = waiting.map((message): Pair => [message.runId, JSON.stringify(waitingKind.stored(message))]);
  const header = present([
    [HEADER.slug, slug],
    [HEADER.createdAtMs, thread.createdAtMs],
    // A thread without these has never had a commit.
    [HEADER.rev, rev > 0 ? rev : null],
    [HEADER.state, rev > 0 ? state : null],
    [HEADER.fence, fence],
    [HEADER.snapshot, snapshot],
    [HEADER.catalog, catalog.length > 0 ? JSON.stringify(catalogKind.stored(catalog)) : null],
    [HEADER.catalogId, catalog.length > 0 ? catalogIdOf(catalog) : null],
    [HEADER.run, run],
    [HEADER.runId, thread.run?.runId ?? null],
    [HEADER.messages, thread.messagesFrom + thread.messages.length || null],
    [HEADER.waiting, waiting.map(({ runId }) => runId).join(" ") || null],
    [HEADER.dueAtMs, dueAtMs],
    [HEADER.hidden, thread.hidden ?? null],
    [HEADER.summarized, thread.summarized ?? null],
    [HEADER.told, told?.count ?? null],
  ]);
  return [
    ...set(tables.waiting.key(uid), queued),
    ...set(
      tables.outbox.key(uid),
      events.map(({ nth, endpoint, text }) => [`${nth} ${endpoint}`, text]),
    ),
    ...put(
      tables.unqueued.key(bucket),
      events.map(({ nth, endpoint }) => [`${slug} ${uid} ${nth} ${endpoint}`, 0]),
    ),
    ...(dueAtMs === null ? [] : put(tables.restoredDue.key(bucket), [[uid, dueAtMs]])),
    ...(fence === null ? [] : set(tables.restoredHeld.key(bucket), [[uid, fence]])),
    ...set(tables.header.key(uid), header),
  ];
}

/** A thread in the orders of its channel. `last`: its last message; null: it has none. */
export function orderWrites({ uid, slug, state, snapshot }: WholeThread, last: Message | null): Write[] {
  const atMs = Math.max(last?.createdAtMs ?? 0, answererSince(snapshot));
  if (atMs === 0) return [];
  const active = put(tables.activity.key(slug), [[uid, atMs]], "raise");
  return state === "idle" ? active : [...active, ...put(tables.busy.key(slug, state), [[uid, atMs]])];
}

function set(key: string, fields: readonly Pair[]): Write[] {
  return fields.length > 0 ? [{ write: "set", key, fields }] : [];
}

function put(key: string, members: readonly (readonly [string, number])[], mode?: "raise"): Write[] {
  return members.length > 0 ? [{ write: "put", key, members, ...(mode ? { mode } : {}) }] : [];
}

/** Without fields that have no value. */
function present(fields: readonly (readonly [name: string, value: string | number | null])[]): Pair[] {
  return fields.flatMap(([name, value]): Pair[] => (value === null ? [] : [[name, String(value)]]));
}
