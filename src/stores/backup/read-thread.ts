import type { Entry, Pair } from "../engine.ts";
import { jsonValue } from "../json-value.ts";
import { readMessage, readRun, readRunSummary, readState, readUserMessage } from "../records.ts";
import { claimFrom } from "../steps/threads/claims.ts";
import { isDeleted, waitingRunsOf } from "../steps/threads/facts.ts";
import { catalogFrom } from "../steps/threads/records.ts";
import { HEADER, tables } from "../tables.ts";
import type { Reader } from "../walk.ts";
import { chunks, rangePages } from "./pages.ts";
import type { KeptPart, ThreadLists, ThreadPiece, ToldOfThread, WholeThread } from "./records.ts";
import type { ThreadRead } from "./source.ts";

/** Entries of each of a thread's tables that are read together with it. */
const MOST = 50;
const MOST_PARTS = 8;
/** Entries of a longer one that are read at once. */
const PAGE = 500;
const PAGE_CHARS = 4_000_000;
const PARTS_PAGE = 32;

const FIELDS = [
  HEADER.slug,
  HEADER.createdAtMs,
  HEADER.rev,
  HEADER.fence,
  HEADER.state,
  HEADER.snapshot,
  HEADER.catalog,
  HEADER.run,
  HEADER.dueAtMs,
  HEADER.told,
  HEADER.waiting,
  HEADER.messages,
] as const;

const NO_LISTS: ThreadLists = {
  messagesFrom: 0,
  messages: [],
  runsFrom: 0,
  runs: [],
  parts: [],
  claims: [],
};

/** A thread as it was at one moment, and how many messages it had; its lists and events are empty. */
interface Head {
  thread: WholeThread;
  messages: number;
}

/** Null: there is no thread, or it was deleted. */
export async function readThread(reader: Reader, uid: string): Promise<ThreadRead | null> {
  const key = keysOf(uid);
  const [[messages = null], runs, parts, claims, told] = await reader.read([
    { read: "fields", key: key.header, fields: [HEADER.messages] },
    { read: "size", key: key.runs },
    { read: "size", key: key.parts },
    { read: "size", key: key.claims },
    { read: "size", key: key.outbox },
  ]);
  const isShort = Math.max(Number(messages), runs, claims, told) <= MOST && parts <= MOST_PARTS;
  return isShort ? readShort(reader, uid) : readLong(reader, uid);
}

function keysOf(uid: string) {
  return {
    header: tables.header.key(uid),
    messages: tables.messages.key(uid),
    waiting: tables.waiting.key(uid),
    runs: tables.runs.key(uid),
    runOrder: tables.runOrder.key(uid),
    lastRun: tables.lastRun.key(uid),
    parts: tables.parts.key(uid),
    claims: tables.claims.key(uid),
    outbox: tables.outbox.key(uid),
  };
}

function headReads(uid: string) {
  const key = keysOf(uid);
  return [
    { read: "fields", key: key.header, fields: FIELDS },
    { read: "hash", key: key.waiting },
    { read: "fields", key: key.lastRun, fields: ["run"] },
  ] as const;
}

function headFrom(
  uid: string,
  fields: readonly (string | null)[],
  waiting: readonly Pair[],
  lastRun: string | null | undefined,
): Head | null {
  const [slug, createdAtMs, rev, fence, state, snapshot, catalog, run, dueAtMs, told, runs, messages] =
    fields;
  if (!slug || isDeleted({ fence: fence ?? null })) return null;
  const texts = new Map(waiting);
  const record = run || lastRun;
  const thread: WholeThread = {
    type: "thread",
    uid,
    first: true,
    slug,
    createdAtMs: createdAtMs ? Number(createdAtMs) : null,
    rev: Number(rev ?? 0),
    fence: fence || null,
    state: readState(state ?? "idle", uid),
    snapshot: snapshot ?? null,
    catalog: catalogFrom(catalog, uid),
    run: record ? readRun(jsonValue(record), uid) : null,
    waiting: waitingRunsOf(runs).flatMap((runId) => {
      const text = texts.get(runId);
      return text === undefined ? [] : [readUserMessage(jsonValue(text), uid)];
    }),
    dueAtMs: dueAtMs ? Number(dueAtMs) : null,
    ...(told ? { told: { count: Number(told), waiting: [] } } : {}),
    ...NO_LISTS,
  };
  return { thread, messages: Number(messages ?? 0) };
}

async function readShort(reader: Reader, uid: string): Promise<ThreadRead | null> {
  const key = keysOf(uid);
  const [header, waiting, [lastRun], entries, order, runs, parts, claims, events] = await reader.read([
    ...headReads(uid),
    // It may have grown a little meanwhile.
    {
      read: "page",
      key: key.messages,
      from: 1,
      to: { key: key.header, field: HEADER.messages },
      limit: Number.MAX_SAFE_INTEGER,
      budget: Number.MAX_SAFE_INTEGER,
    },
    { read: "range", key: key.runOrder },
    { read: "hash", key: key.runs },
    { read: "hash", key: key.parts },
    { read: "hash", key: key.claims },
    { read: "hash", key: key.outbox },
  ]);
  const head = headFrom(uid, header, waiting, lastRun);
  if (head === null) return null;
  const { thread } = head;
  const texts = new Map(runs);
  thread.told?.waiting.push(...toldFrom(events, thread.told.count));
  const lists = {
    messages: messagesFrom(entries, uid),
    runs: summariesFrom(
      order.map(([runId]) => texts.get(runId) ?? null),
      uid,
    ),
    parts: parts.map(partFrom),
    claims: claims.map(([id, text]) => claimFrom(id, text)),
  };
  return { first: { ...thread, ...lists }, rest: null };
}

async function readLong(reader: Reader, uid: string): Promise<ThreadRead | null> {
  const [header, waiting, [lastRun]] = await reader.read(headReads(uid));
  const head = headFrom(uid, header, waiting, lastRun);
  if (head === null) return null;
  return { first: { type: "piece", uid, first: true, ...NO_LISTS }, rest: restOf(reader, head) };
}

/**
 * The lists of a long thread, up to where they were at the moment of its header: messages have numbers, runs the revision
 * of their first commit, and later claims are left out.
 */
async function* restOf(
  reader: Reader,
  { thread, messages: count }: Head,
): AsyncIterable<ThreadPiece | WholeThread> {
  const { uid, rev, told } = thread;
  const key = keysOf(uid);
  const piece = { type: "piece", uid, first: false, ...NO_LISTS } as const;
  const at = { messagesFrom: 0, runsFrom: 0 };

  for (let from = 1; from <= count;) {
    const [entries] = await reader.read([
      { read: "page", key: key.messages, from, to: count, limit: PAGE, budget: PAGE_CHARS },
    ]);
    const last = entries.at(-1);
    if (last === undefined) break;
    yield { ...piece, ...at, messages: messagesFrom(entries, uid) };
    at.messagesFrom += entries.length;
    from = last[0] + 1;
  }
  for await (const members of rangePages(reader, key.runOrder, { to: rev, limit: PAGE })) {
    const fields = members.map(([runId]) => runId);
    const [texts] = await reader.read([{ read: "fields", key: key.runs, fields }]);
    const runs = summariesFrom(texts, uid);
    yield { ...piece, ...at, runs };
    at.runsFrom += runs.length;
  }
  for await (const page of reader.hashPages(key.parts)) {
    for (const parts of chunks(page, PARTS_PAGE)) yield { ...piece, ...at, parts: parts.map(partFrom) };
  }
  for await (const page of reader.hashPages(key.claims)) {
    // Read after the claims, so that it has the run of each later claim.
    const later = await laterRuns(reader, thread);
    const claims = page.map(([id, text]) => claimFrom(id, text));
    yield { ...piece, ...at, claims: claims.filter(({ runId }) => !later.has(runId)) };
  }
  for await (const page of told ? reader.hashPages(key.outbox) : []) {
    told?.waiting.push(...toldFrom(page, told.count));
  }
  yield { ...thread, first: false, ...at };
}

/** The runs that have begun, or wait, since the thread was read. */
async function laterRuns(reader: Reader, { uid, rev, waiting }: WholeThread): Promise<ReadonlySet<string>> {
  const key = keysOf(uid);
  const [begun, [runs]] = await reader.read([
    { read: "range", key: key.runOrder, from: rev },
    { read: "fields", key: key.header, fields: [HEADER.waiting] },
  ]);
  const begunLater = begun.filter(([, began]) => began > rev).map(([runId]) => runId);
  const later = new Set([...begunLater, ...waitingRunsOf(runs)]);
  for (const { runId } of waiting) later.delete(runId);
  return later;
}

function messagesFrom(entries: readonly Entry[], uid: string) {
  return entries.map(([, text]) => readMessage(jsonValue(text), uid));
}

/** Without runs that are listed but have no summary. */
function summariesFrom(texts: readonly (string | null)[], uid: string) {
  return texts.filter((text) => text !== null).map((text) => readRunSummary(jsonValue(text), uid));
}

function partFrom([name, text]: Pair): KeptPart {
  const colon = name.lastIndexOf(":");
  return { runId: name.slice(0, colon), nth: Number(name.slice(colon + 1)), text };
}

/** Without the events of later commits. */
function toldFrom(events: readonly Pair[], count: number): ToldOfThread["waiting"] {
  return events
    .map(([field, text]) => {
      const [nth = "", endpoint = ""] = field.split(" ");
      return { nth, endpoint, text };
    })
    .filter(({ nth }) => Number(nth) <= count);
}
