import { setImmediate as nextTurn } from "node:timers/promises";
import type { ThreadEntry } from "../../store/users.ts";
import type { Reader } from "../checks.ts";
import { readChannel } from "../channel-record.ts";
import { auditKind, operatorKind } from "../operator-records.ts";
import { readMessage, readNumber, readRunSummary, readText } from "../records.ts";
import { deletionKind } from "../backup/deletions.ts";
import type {
  BackupStats,
  BackupToken,
  KeptPart,
  ThreadPiece,
  ToldOfThread,
  WholeThread,
} from "../backup/records.ts";
import type { BackupSource, ThreadRead, UserRead } from "../backup/source.ts";
import { FIRST_FORMAT } from "../format.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key, Snapshot } from "./db.ts";
import { placeFrom } from "./operators.ts";
import { statsKind } from "./stats.ts";
import type { StatsRecord } from "./stats.ts";
import { claimKind, threadRecords } from "./thread-records.ts";
import type { Header } from "./thread-records.ts";
import { threadNameKind, tokenKind, userKind } from "./user-records.ts";

const USERS_AT_ONCE = 64;
/** Messages, runs, texts or claims that are read together with a thread, or in one page. */
const PAGE = 200;
const PARTS_PAGE = 16;
const TOKENS_AT_ONCE = 500;
const AUDIT_AT_ONCE = 500;

/** Reads the format and does not raise it: a service of an older version may be using this store. */
export function embeddedFormat(db: Pick<EmbeddedDb, "get">): number {
  return db.get(["format"], readNumber) ?? FIRST_FORMAT;
}

/** The embedded store as the source of a backup: everything as it was at one moment. */
export function embeddedSource(db: EmbeddedDb): BackupSource {
  const at = db.snapshot();
  const values = <T>(prefix: Key, read: Reader<T>) => [...at.range(prefix, read)].map(({ value }) => value);

  return {
    kind: "embedded",
    format: () => Promise.resolve(embeddedFormat(at)),
    counts: () =>
      Promise.resolve({
        channels: at.count(["c"]),
        users: at.count(["u"]),
        threads: at.count(["h"]),
        tokens: at.count(["v"]),
        messages: at.count(["m"]),
      }),
    channels: () => Promise.resolve(values(["c"], readChannel)),
    blockedIps: () => Promise.resolve(values(["ip"], readText)),

    operators: () => Promise.resolve(values(["op"], operatorKind.read)),

    async *audit() {
      for await (const page of pagesOf(at, ["audit"], auditKind.read, AUDIT_AT_ONCE)) {
        yield page.map(({ key, value }) => ({ type: "audit", nth: placeFrom(key).nth, entry: value }));
      }
    },

    isEncrypted: () => Promise.resolve([...at.range(["wrapper"], readText, { limit: 1 })].length > 0),

    async *stats() {
      for await (const page of pagesOf(at, ["st"], statsKind.read, AUDIT_AT_ONCE)) {
        yield page.map(({ key, value }) => backupStats(at, key, value));
      }
    },

    async *users(slug, which) {
      for await (const page of pagesOf(at, ["us", keyPart(slug)], readText, USERS_AT_ONCE)) {
        const users = page.map(({ value }) => userRead(at, slug, value)).filter((user) => user !== null);
        yield users.filter(({ record }) => (record.user.externalId === null) === (which === "anonymous"));
      }
    },

    async *names(slug, userId) {
      for await (const page of pagesOf(at, namesPrefix(slug, userId), threadNameKind.read, PAGE)) {
        yield page.map(({ value }) => entryFrom(value));
      }
    },

    thread: (uid) => Promise.resolve(threadRead({ ...db, get: at.get, has: at.has, range: at.range }, uid)),

    async *deletions() {
      for await (const page of pagesOf(at, ["deleted"], deletionKind.read, PAGE)) {
        yield page.map(({ value }) => value);
      }
    },

    async *tokens() {
      for await (const page of pagesOf(at, ["v"], tokenKind.read, TOKENS_AT_ONCE)) {
        const tokens: BackupToken[] = [];
        for (const { key, value } of page) {
          const [, slug = "", tokenHash = ""] = key.map(String);
          const expiresAtMs = at.get(["e", slug, tokenHash], readNumber);
          if (expiresAtMs !== undefined)
            tokens.push({ type: "token", slug, tokenHash, ...value, expiresAtMs });
        }
        yield tokens;
      }
    },

    close() {
      at.close();
      return Promise.resolve();
    },
  };
}

function backupStats(at: Snapshot, key: Key, { counts, visitors }: StatsRecord): BackupStats {
  const [, slug = "", day = ""] = key.map(String);
  const speakers = [...at.range(["sv", day, slug], readText)].map((speaker) => String(speaker.key[3]));
  const known = speakers.length > 0 ? { speakers } : {};
  return { type: "stats", slug, day, counts, visitors, ...known };
}

const namesPrefix = (slug: string, userId: string): Key => ["n", keyPart(slug), keyPart(userId)];

function entryFrom({
  uid,
  name,
  createdAtMs,
}: {
  uid: string;
  name: string;
  createdAtMs: number;
}): ThreadEntry {
  return { uid, threadId: name, createdAtMs };
}

/** Null: listed, but without a record. */
function userRead(at: Snapshot, slug: string, userId: string): UserRead | null {
  const record = at.get(["u", keyPart(slug), keyPart(userId)], userKind.read);
  if (record === undefined) return null;
  const names = [...at.range(namesPrefix(slug, userId), threadNameKind.read, { limit: PAGE + 1 })];
  return {
    record: { type: "user", slug, nth: 0, ...record },
    names: names.length > PAGE ? null : names.map(({ value }) => entryFrom(value)),
  };
}

function threadRead(db: EmbeddedDb, uid: string): ThreadRead | null {
  const header = threadRecords(db).header(uid);
  if (header === undefined) return null;
  const part = keyPart(uid);
  const few = <T>(kind: string, read: Reader<T>, most: number) =>
    [...db.range([kind, part], read, { limit: most + 1 })].map(({ key, value }) => ({ key, value }));
  const parts = few("p", readText, PARTS_PAGE);
  const claims = few("id", claimKind.read, PAGE);
  const isWhole =
    header.messageCount <= PAGE &&
    header.runCount <= PAGE &&
    parts.length <= PARTS_PAGE &&
    claims.length <= PAGE;
  const lists = {
    messagesFrom: 0,
    messages: few("m", readMessage, PAGE).map(({ value }) => value),
    runsFrom: 0,
    runs: few("rs", readRunSummary, PAGE).map(({ value }) => value),
    parts: parts.map(partFrom),
    claims: claims.map(({ value }) => value),
  };
  if (isWhole) return { first: { ...wholeThread(db, uid, header), ...lists, first: true }, rest: null };
  return { first: { type: "piece", uid, first: true, ...NO_LISTS }, rest: restOf(db, uid, header) };
}

const NO_LISTS = { messagesFrom: 0, messages: [], runsFrom: 0, runs: [], parts: [], claims: [] };

/** A long thread in pages. */
async function* restOf(
  db: EmbeddedDb,
  uid: string,
  header: Header,
): AsyncIterable<ThreadPiece | WholeThread> {
  const piece = { type: "piece", uid, first: false, ...NO_LISTS } as const;
  const part = keyPart(uid);
  let messagesFrom = 0;
  let runsFrom = 0;
  for await (const page of pagesOf(db, ["m", part], readMessage, PAGE)) {
    yield { ...piece, messagesFrom, messages: page.map(({ value }) => value) };
    messagesFrom += page.length;
  }
  for await (const page of pagesOf(db, ["rs", part], readRunSummary, PAGE)) {
    yield { ...piece, messagesFrom, runsFrom, runs: page.map(({ value }) => value) };
    runsFrom += page.length;
  }
  for await (const page of pagesOf(db, ["p", part], readText, PARTS_PAGE)) {
    yield { ...piece, messagesFrom, runsFrom, parts: page.map(partFrom) };
  }
  for await (const page of pagesOf(db, ["id", part], claimKind.read, PAGE)) {
    yield { ...piece, messagesFrom, runsFrom, claims: page.map(({ value }) => value) };
  }
  yield { ...wholeThread(db, uid, header), messagesFrom, runsFrom };
}

function wholeThread(db: EmbeddedDb, uid: string, header: Header): WholeThread {
  const records = threadRecords(db);
  const { slug, createdAtMs, rev, fence, state, snapshot, waiting, dueAtMs } = header;
  return {
    type: "thread",
    uid,
    first: false,
    slug,
    createdAtMs,
    rev,
    fence,
    state,
    snapshot,
    catalog: records.catalog(uid),
    run: records.run(uid),
    waiting: waiting.flatMap((runId) => records.waiting(uid, runId) ?? []),
    dueAtMs,
    ...(header.told === undefined ? {} : { told: { count: header.told, waiting: waitingTold(db, uid) } }),
    ...NO_LISTS,
  };
}

function waitingTold(db: EmbeddedDb, uid: string): ToldOfThread["waiting"] {
  return [...db.range(["out", keyPart(uid)], readText)].map(({ key, value }) => ({
    nth: String(key[2]),
    endpoint: String(key[3]),
    text: value,
  }));
}

/** The key has the run's id unchanged: run ids are made by this service, and plain. */
function partFrom({ key, value }: { key: Key; value: string }): KeptPart {
  return { runId: String(key[2]), nth: Number(key[3]), text: value };
}

/** Other work runs between two pages, including what frees the memory of cursors outside the heap. */
export async function* pagesOf<T>(
  db: Pick<EmbeddedDb, "range">,
  prefix: Key,
  read: Reader<T>,
  limit: number,
): AsyncIterable<{ key: Key; value: T }[]> {
  for (let from = prefix; ;) {
    const page = [...db.range(prefix, read, { from, limit })];
    if (page.length > 0) yield page;
    await nextTurn();
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    from = [...last.key, 0];
  }
}
