import type { Entry, Pair } from "../engine.ts";
import { jsonValue } from "../records/json-value.ts";
import { readMessage, readRun, readRunSummary, readState, readUserMessage } from "../records/records.ts";
import { claimFrom } from "../steps/threads/claims.ts";
import { isDeleted, waitingRunsOf } from "../steps/threads/facts.ts";
import { catalogFrom } from "../steps/threads/records.ts";
import { HEADER, tables } from "../tables.ts";
import type { Reader } from "../walk.ts";
import { chunks, rangePages } from "./pages.ts";
import type { KeptPart, ThreadLists, ThreadPiece, ToldOfThread, WholeThread } from "./records.ts";

/** Entries of each of a thread's tables that are read together with it. */
const MOST = 50;
const MOST_PARTS = 8;
/** Entries of a longer one that are read at once. */
const PAGE = 500;
const PAGE_CHARS = 4_000_000;
const PARTS_PAGE = 32;

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

type Records = Iterable<WholeThread> | AsyncIterable<ThreadPiece | WholeThread>;

/** A thread as it was at one moment; most are one record. Nothing: there is none, or it was deleted. */
export async function readThread(reader: Reader, uid: string): Promise<Records> {
  const [[messages = null], runs, parts, claims, told] = await reader.read([
    { read: "fields", key: tables.header.key(uid), fields: [HEADER.messages] },
    { read: "size", key: tables.runs.key(uid) },
    { read: "size", key: tables.parts.key(uid) },
    { read: "size", key: tables.claims.key(uid) },
    { read: "size", key: tables.outbox.key(uid) },
  ]);
  const isShort = Math.max(Number(messages), runs, claims, told) <= MOST && parts <= MOST_PARTS;
  return isShort ? readShort(reader, uid) : readLong(reader, uid);
}

function headReads(uid: string) {
  return [
    { read: "hash", key: tables.header.key(uid) },
    { read: "hash", key: tables.waiting.key(uid) },
  ] as const;
}

/** From what `headReads` reads. */
function headFrom(uid: string, [pairs, waiting]: readonly [readonly Pair[], readonly Pair[]]): Head | null {
  const header = new Map(pairs);
  const textOf = (field: string) => header.get(field) || null;
  const numberOf = (field: string) => (textOf(field) === null ? null : Number(textOf(field)));
  const slug = textOf(HEADER.slug);
  const fence = textOf(HEADER.fence);
  if (slug === null || isDeleted({ fence })) return null;
  const texts = new Map(waiting);
  const run = textOf(HEADER.run);
  const told = numberOf(HEADER.told);
  const hidden = textOf(HEADER.hidden);
  const summarized = numberOf(HEADER.summarized);
  const thread: WholeThread = {
    type: "thread",
    uid,
    first: true,
    slug,
    createdAtMs: numberOf(HEADER.createdAtMs),
    rev: numberOf(HEADER.rev) ?? 0,
    fence,
    state: readState(textOf(HEADER.state) ?? "idle", uid),
    snapshot: textOf(HEADER.snapshot),
    catalog: catalogFrom(textOf(HEADER.catalog), uid),
    run: run ? readRun(jsonValue(run), uid) : null,
    waiting: waitingRunsOf(textOf(HEADER.waiting)).flatMap((runId) => {
      const text = texts.get(runId);
      return text === undefined ? [] : [readUserMessage(jsonValue(text), uid)];
    }),
    dueAtMs: numberOf(HEADER.dueAtMs),
    ...(hidden === null ? {} : { hidden }),
    ...(summarized === null ? {} : { summarized }),
    ...(told === null ? {} : { told: { count: told, waiting: [] } }),
    ...NO_LISTS,
  };
  return { thread, messages: numberOf(HEADER.messages) ?? 0 };
}

/** In one call. */
async function readShort(reader: Reader, uid: string): Promise<WholeThread[]> {
  const messages = { read: "page", key: tables.messages.key(uid), from: 1 } as const;
  const to = { key: tables.header.key(uid), field: HEADER.messages };
  const [header, waiting, entries, order, runs, parts, claims, events] = await reader.read([
    ...headReads(uid),
    // It may have grown a little meanwhile.
    { ...messages, to, limit: Number.MAX_SAFE_INTEGER, budget: Number.MAX_SAFE_INTEGER },
    { read: "range", key: tables.runOrder.key(uid) },
    { read: "hash", key: tables.runs.key(uid) },
    { read: "hash", key: tables.parts.key(uid) },
    { read: "hash", key: tables.claims.key(uid) },
    { read: "hash", key: tables.outbox.key(uid) },
  ]);
  const head = headFrom(uid, [header, waiting]);
  if (head === null) return [];
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
  return [{ ...thread, ...lists }];
}

/**
 * The header in one call, then the lists, up to where they were at that moment: messages have numbers, runs the revision of
 * their first commit, and later claims are left out.
 */
async function* readLong(reader: Reader, uid: string): AsyncIterable<ThreadPiece | WholeThread> {
  const head = headFrom(uid, await reader.read(headReads(uid)));
  if (head === null) return;
  const { thread, messages: count } = head;
  const { rev, told } = thread;
  const at = { first: true, messagesFrom: 0, runsFrom: 0 };
  const pieceWith = (lists: Partial<ThreadLists>): ThreadPiece => {
    const piece = { type: "piece", uid, ...NO_LISTS, ...at, ...lists } as const;
    at.first = false;
    at.messagesFrom += piece.messages.length;
    at.runsFrom += piece.runs.length;
    return piece;
  };

  for (let from = 1; from <= count;) {
    const [entries] = await reader.read([
      { read: "page", key: tables.messages.key(uid), from, to: count, limit: PAGE, budget: PAGE_CHARS },
    ]);
    const last = entries.at(-1);
    if (last === undefined) break;
    yield pieceWith({ messages: messagesFrom(entries, uid) });
    from = last[0] + 1;
  }
  for await (const members of rangePages(reader, tables.runOrder.key(uid), { to: rev, limit: PAGE })) {
    const fields = members.map(([runId]) => runId);
    const [texts] = await reader.read([{ read: "fields", key: tables.runs.key(uid), fields }]);
    yield pieceWith({ runs: summariesFrom(texts, uid) });
  }
  for await (const page of reader.hashPages(tables.parts.key(uid))) {
    for (const parts of chunks(page, PARTS_PAGE)) yield pieceWith({ parts: parts.map(partFrom) });
  }
  for await (const page of reader.hashPages(tables.claims.key(uid))) {
    // Read after the claims, so that it has the run of each later claim.
    const later = await laterRuns(reader, thread);
    const claims = page.map(([id, text]) => claimFrom(id, text));
    yield pieceWith({ claims: claims.filter(({ runId }) => !later.has(runId)) });
  }
  for await (const page of told ? reader.hashPages(tables.outbox.key(uid)) : []) {
    told?.waiting.push(...toldFrom(page, told.count));
  }
  yield { ...thread, ...at };
}

/** The runs that have begun, or wait, since the thread was read. */
async function laterRuns(reader: Reader, { uid, rev, waiting }: WholeThread): Promise<ReadonlySet<string>> {
  const [begun, [runs]] = await reader.read([
    { read: "range", key: tables.runOrder.key(uid), from: rev },
    { read: "fields", key: tables.header.key(uid), fields: [HEADER.waiting] },
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
