import type { Message } from "../../domain/message.ts";
import { answererSince } from "../answerer-since.ts";
import type { Pair, Write } from "../engine.ts";
import { catalogKind, runKind, summaryKind, waitingKind } from "../records.ts";
import { storedSummaryFrom } from "../stored-records.ts";
import { auditMember } from "../steps/operators.ts";
import { RESTORED_VISITORS, STATS_KEPT_MS } from "../steps/stats.ts";
import { claimWrite } from "../steps/threads/claims.ts";
import { entryOf } from "../steps/threads/commit-writes.ts";
import { ownerText } from "../steps/users/new-thread.ts";
import { USER_FIELDS, userTexts } from "../steps/users/user-record.ts";
import { bucketOf, externalId, HEADER, tables, TOKEN, USER } from "../tables.ts";
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
const PLACES_PER_MS = 1_000;

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
      return [{ write: "put", key: tables.audit.key, members: [auditMember(place, entry)] }];
    }
    case "stats":
      return statsWrites(record, nowMs);
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
  return [
    ...set(
      tables.owners.key(slug),
      names.map(({ threadId, uid }) => [uid, ownerText(userId, threadId)]),
    ),
    {
      write: "put",
      key: tables.activity.key(slug),
      members: names.map(({ uid, createdAtMs }) => [uid, createdAtMs]),
      mode: "raise",
    },
    ...set(
      tables.names.key(slug, userId),
      names.map(({ threadId, uid, createdAtMs }) => [threadId, `${uid} ${createdAtMs}`]),
    ),
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
  const spoke: Write[] = speakers.length > 0 ? [{ write: "count", key: sketch, members: speakers }] : [];
  return [
    ...set(stats, fields),
    ...spoke,
    { write: "end", key: stats, atMs },
    { write: "end", key: sketch, atMs },
  ];
}

/** The record comes last: without it there is no user. */
function userWrites({ slug, user, createdAtMs, nth, spent, ...more }: BackupUser): Write[] {
  const { revocations, contentKeys = {} } = more;
  const { userId } = user;
  const members = [[userId, createdAtMs * PLACES_PER_MS + nth]] as const;
  const texts = userTexts(user);
  const fields = USER_FIELDS.flatMap((field, i): Pair[] => {
    const text = texts[i] ?? null;
    return text === null ? [] : [[field, text]];
  });
  if (revocations !== undefined) fields.push([USER.revocations, String(revocations)]);
  const account: Write[] =
    user.externalId === null
      ? []
      : set(tables.external.key(slug, externalId(user.externalId)), [["user", userId]]);
  return [
    { write: "put", key: tables.users.key(slug), members },
    ...(user.blocked ? [{ write: "put" as const, key: tables.blocked.key(slug), members }] : []),
    ...set(
      tables.days.key(slug, userId),
      spent.map(({ day, tokens }) => [day, String(tokens)]),
    ),
    ...set(tables.contentKeys.key(slug, userId), Object.entries(contentKeys)),
    ...account,
    ...set(tables.user.key(slug, userId), fields),
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
  const fields: Pair[] = [
    [TOKEN.user, userId],
    [TOKEN.snapshot, snapshot],
    ...renamed.map(({ said, stored }): Pair => [TOKEN.renamed(said), stored]),
  ];
  if (revocations !== undefined) fields.push([TOKEN.revocations, String(revocations)]);
  if (endsAtMs !== undefined) fields.push([TOKEN.ends, String(endsAtMs)]);
  return [
    ...set(tables.tokens.key(slug, userId), [[tokenHash, ""]]),
    ...set(key, fields),
    { write: "end", key, atMs: expiresAtMs },
  ];
}

function listWrites(piece: ThreadPiece | WholeThread): Write[] {
  const { uid, messagesFrom, messages, runsFrom, runs, parts, claims } = piece;
  return [
    ...set(
      tables.messages.key(uid),
      messages.map((message, i) => entryOf(messagesFrom + i + 1, message)),
    ),
    ...set(
      tables.runs.key(uid),
      runs.map((run) => [run.runId, JSON.stringify(summaryKind.stored(storedSummaryFrom(run)))]),
    ),
    ...(runs.length > 0
      ? [
          {
            write: "put" as const,
            key: tables.runOrder.key(uid),
            members: runs.map(({ runId }, i) => [runId, runsFrom + i - BEFORE_REVISIONS] as const),
          },
        ]
      : []),
    ...set(
      tables.parts.key(uid),
      parts.map(({ runId, nth, text }) => [`${runId}:${nth}`, text]),
    ),
    ...claims.map((claim) => claimWrite(uid, claim, null)),
  ];
}

/** The header comes last: without it there is no thread. Holds and deadlines are noted where nobody looks. */
function threadWrites(thread: WholeThread): Write[] {
  const { uid, slug, fence, state, run, waiting, dueAtMs, told } = thread;
  const bucket = bucketOf(uid);
  const writes: Write[] = [
    ...set(
      tables.waiting.key(uid),
      waiting.map((message) => [message.runId, JSON.stringify(waitingKind.stored(message))]),
    ),
    ...(run !== null && state === "idle"
      ? set(tables.lastRun.key(uid), [["run", JSON.stringify(runKind.stored(run))]])
      : []),
  ];
  for (const { nth, endpoint, text } of told?.waiting ?? []) {
    const members = [[`${slug} ${uid} ${nth} ${endpoint}`, 0]] as const;
    writes.push(...set(tables.outbox.key(uid), [[`${nth} ${endpoint}`, text]]), {
      write: "put",
      key: tables.unqueued.key(bucket),
      members,
    });
  }
  if (dueAtMs !== null) {
    writes.push({ write: "put", key: tables.restoredDue.key(bucket), members: [[uid, dueAtMs]] });
  }
  if (fence !== null) writes.push(...set(tables.restoredHeld.key(bucket), [[uid, fence]]));
  return [...writes, ...set(tables.header.key(uid), headerFields(thread))];
}

function headerFields(thread: WholeThread): Pair[] {
  const { slug, createdAtMs, rev, fence, state, snapshot, catalog, run, waiting, dueAtMs, told } = thread;
  const count = thread.messagesFrom + thread.messages.length;
  const fields: [name: string, value: string | null][] = [
    [HEADER.slug, slug],
    [HEADER.createdAtMs, createdAtMs === null ? null : String(createdAtMs)],
    // A thread without these has never had a commit.
    [HEADER.rev, rev > 0 ? String(rev) : null],
    [HEADER.state, rev > 0 ? state : null],
    [HEADER.fence, fence],
    [HEADER.snapshot, snapshot],
    [HEADER.catalog, catalog.length > 0 ? JSON.stringify(catalogKind.stored(catalog)) : null],
    [HEADER.run, run !== null && state !== "idle" ? JSON.stringify(runKind.stored(run)) : null],
    [HEADER.messages, count > 0 ? String(count) : null],
    [HEADER.waiting, waiting.length > 0 ? waiting.map(({ runId }) => runId).join(" ") : null],
    [HEADER.dueAtMs, dueAtMs === null ? null : String(dueAtMs)],
    [HEADER.told, told ? String(told.count) : null],
  ];
  return fields.flatMap(([name, value]): Pair[] => (value === null ? [] : [[name, value]]));
}

/** A thread in the orders of its channel. `last`: its last message; null: it has none. */
export function orderWrites({ uid, slug, state, snapshot }: WholeThread, last: Message | null): Write[] {
  const atMs = Math.max(last?.createdAtMs ?? 0, answererSince(snapshot));
  if (atMs === 0) return [];
  const members = [[uid, atMs]] as const;
  const active: Write = { write: "put", key: tables.activity.key(slug), members, mode: "raise" };
  if (state === "idle") return [active];
  return [active, { write: "put", key: tables.busy.key(slug, state), members }];
}

function set(key: string, fields: readonly Pair[]): Write[] {
  return fields.length > 0 ? [{ write: "set", key, fields }] : [];
}
