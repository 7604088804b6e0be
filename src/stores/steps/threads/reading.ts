import { chosenOf, isHidden, rangesFrom } from "../../../domain/threads/branches.ts";
import type { Ranges } from "../../../domain/threads/branches.ts";
import type { RunLine } from "../../../domain/threads/kept-text.ts";
import type { Message } from "../../../domain/threads/message.ts";
import type { RunSummary, ThreadRecord, ThreadStore } from "../../../store/threads.ts";
import { LOOK_CHARS, LOOK_MESSAGES, summaryFrom } from "../../../store/threads.ts";
import { openedRun, openedSnapshot, openedSummary } from "../../content-keys/sealed-records.ts";
import type { Open } from "../../content-keys/sealed-records.ts";
import { NewerRecord, UnreadableRecord } from "../../../store.ts";
import { textOfEntry } from "../../engine.ts";
import type { Entry } from "../../engine.ts";
import { jsonValue } from "../../records/json-value.ts";
import { readRun, readRunSummary, readState } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import type { KnownMessages } from "../../sealing.ts";
import type { StoredRun } from "../../records/stored-records.ts";
import type { StepsContext } from "../context.ts";
import { openedClaim } from "./claims.ts";
import { FACTS, factsFrom, isDeleted, waitingRunsOf } from "./facts.ts";
import type { Facts, KnownFacts } from "./facts.ts";
import { historySummaryFrom, SUMMARY_FIELD } from "./history-summary.ts";
import { readField } from "./read-field.ts";
import { catalogFrom, messagesFrom } from "./records.ts";
import { wholeMessages, wholeRunOf } from "./texts.ts";

const ALL = Number.MAX_SAFE_INTEGER;
/** What a load reads beside the facts. */
const LOADED = [...FACTS, HEADER.snapshot, HEADER.catalog, HEADER.run, HEADER.summarized];

/** What a look reads of the header. */
const SEEN = [
  HEADER.state,
  HEADER.op,
  HEADER.snapshot,
  HEADER.fence,
  HEADER.messages,
  HEADER.runId,
  HEADER.hidden,
];
const LOAD = { name: "load" };
const HISTORY = { name: "history" };

type Reading = Pick<
  ThreadStore,
  "load" | "history" | "look" | "lastOp" | "watchers" | "claimed" | "runs" | "run"
>;

export function readingSteps(context: StepsContext, known: KnownFacts): Reading {
  const { engine, codec } = context;
  const headRead = (uid: string) =>
    ({ read: "fields", key: tables.header.key(uid), fields: [HEADER.messages, HEADER.hidden] }) as const;

  /** Newest first, with what is in other branches. */
  interface Page {
    entries: Entry[];
    hidden: Ranges;
  }

  /** The newest entries before a number, or of all: at least one, if there is one. */
  async function pageBefore(
    uid: string,
    number: number | null,
    { all, ...size }: { limit: number; budget: number; all: boolean },
  ): Promise<Page> {
    const page = pageOf(uid, size);
    const reads = [headRead(uid), number === null ? page : { ...page, to: number - 1 }] as const;
    const [[count, ranges], entries] = await engine.read(reads, HISTORY);
    const hidden = rangesFrom(ranges);
    if (number !== null && number > Number(count ?? 0)) return { entries: [], hidden };
    if (all || hidden.length === 0) return { entries, hidden };
    const shown = entries.filter(([nth]) => !isHidden(hidden, String(nth)));
    const last = entries.at(-1);
    return shown.length > 0 || !last
      ? { entries: shown, hidden }
      : pageBefore(uid, last[0], { all, ...size });
  }

  /** The same without a budget, by reads of one key each: together they would cost Redis more than twice as much. */
  async function newestBefore(
    uid: string,
    number: number | null,
    { limit, all }: { limit: number; all: boolean },
  ): Promise<Page> {
    const head = engine
      .read([headRead(uid)], HISTORY)
      .then(([[count, ranges]]) => ({ count: Number(count ?? 0), hidden: rangesFrom(ranges) }));
    const read = async (hidden: Ranges): Promise<Entry[]> => {
      const last = number === null ? (await head).count : number - 1;
      const numbers = newestShown(last, limit, hidden);
      if (numbers.length === 0) return [];
      const fields = numbers.map(String);
      const reads = [{ read: "fields", key: tables.messages.key(uid), fields }] as const;
      const [texts] = await engine.read(reads, HISTORY);
      return texts.flatMap((text, nth): Entry[] =>
        text === null ? [] : [[numbers[nth] ?? 0, textOfEntry(text)]],
      );
    };
    const ofAll = read(number === null && !all ? (await head).hidden : []);
    const [{ count, hidden }, entries] = await Promise.all([head, ofAll]);
    if (number !== null && number > count) return { entries: [], hidden };
    return { entries: all || number === null || hidden.length === 0 ? entries : await read(hidden), hidden };
  }

  /** The lines of a run that are its reply's text alone; none if the reply was set aside. */
  async function linesOf(uid: string, reply: string, tail: readonly Message[]): Promise<RunLine[]> {
    const known = tail.find(({ id }) => id === reply);
    if (known) return [{ type: "delta", text: known.content }];
    const entry = await readField(engine, tables.messages.key(uid), reply, LOAD);
    if (entry === null) return [];
    const entries: Entry[] = [[Number(reply), textOfEntry(entry)]];
    const read = await codec.read(uid, (open, messages) => messagesFrom(entries, uid, open, messages));
    return read.map(({ content }) => ({ type: "delta", text: content }));
  }

  return {
    async load(uid, budgetChars, runs = "last") {
      const key = tables.header.key(uid);
      const reads = [
        { read: "fields", key, fields: LOADED },
        pageOf(uid, { limit: ALL, budget: budgetChars }),
      ] as const;
      const [fields, entries] = await engine.read(reads, LOAD);
      const facts = factsFrom(fields);
      known.set(uid, facts);
      const [snapshot = null, catalog, lastRun, summarized] = fields.slice(FACTS.length);
      if (facts.slug === null) return null;
      const run = runs === "active" && (facts.state ?? "idle") === "idle" ? null : lastRun;
      const stored = { slug: facts.slug, snapshot, catalog, run, entries };
      const opened = codec.read(uid, (open, messages) => recordFrom(uid, facts, stored, { open, messages }));
      const { record, reply } = opened instanceof Promise ? await opened : opened;
      if (record.run && reply !== undefined) record.run.lines = await linesOf(uid, reply, record.tail);
      if (summarized) {
        const text = await readField(engine, tables.parts.key(uid), SUMMARY_FIELD, LOAD);
        record.historySummary = await codec.read(uid, (open) => historySummaryFrom(text, uid, open));
      }
      // Hardly any thread has a long reply: the others cost no second read.
      if (runs === "last-in-parts" || !(record.run?.kept || record.tail.some(({ kept }) => kept)))
        return record;
      const whole = [wholeMessages(context, uid, record.tail), wholeRunOf(context, uid, record.run)] as const;
      [record.tail, record.run] = await Promise.all(whole);
      return record;
    },

    async history(uid, { limit, before, budgetChars, all = false }) {
      // Ids count up from 1 (ThreadRecord.messageCount).
      const number = before === null ? null : numberOf(before);
      if (number !== null && number < 2) return [];
      const size = { limit, all };
      const { entries, hidden } =
        budgetChars === undefined
          ? await newestBefore(uid, number, size)
          : await pageBefore(uid, number, { ...size, budget: budgetChars });
      const read = await codec.read(uid, (open, opened) =>
        messagesFrom(entries, uid, open, opened).reverse(),
      );
      const messages = marked(read, hidden);
      return budgetChars === undefined ? wholeMessages(context, uid, messages) : messages;
    },

    async look(uid, from, { all = false } = {}) {
      const reads = [
        { read: "fields", key: tables.header.key(uid), fields: SEEN },
        {
          ...pageOf(uid, { limit: LOOK_MESSAGES, budget: LOOK_CHARS }),
          from: from === null ? ALL : from + 1,
        },
      ] as const;
      const [header, entries] = await engine.read(reads, { name: "look" });
      const [state, lastOp = null, snapshot, fence = null, count, runId = null, hidden] = header;
      if (isDeleted({ fence })) {
        const nothing = { state: "idle" as const, runId: null, messageCount: 0, messages: [] };
        return { ...nothing, isDeleted: true, lastOp, to: from ?? 0 };
      }
      const messageCount = Number(count ?? 0);
      const ranges = rangesFrom(hidden);
      const isPersons = state === "waiting_for_person" || state === "with_person";
      const [opened, messages] = await codec.read(uid, (open, before) => [
        isPersons && snapshot ? { snapshot: openedSnapshot(snapshot, open) } : {},
        messagesFrom(entries, uid, open, before),
      ]);
      return {
        state: readState(state ?? "idle", uid),
        runId,
        lastOp,
        ...opened,
        messageCount,
        messages: await wholeMessages(
          context,
          uid,
          all ? marked(messages, ranges) : chosenOf(messages, ranges),
        ),
        to: from === null ? messageCount : (entries.at(-1)?.[0] ?? from),
      };
    },

    lastOp: (uid) => readField(engine, tables.header.key(uid), HEADER.op, { name: "lastOp", durable: false }),

    async watchers(uid) {
      const reads = [{ read: "range", key: tables.watchers.key(uid) }] as const;
      const [members] = await engine.read(reads, { name: "watchers" });
      return members.map(([process]) => process);
    },

    async claimed(uid, clientMessageId) {
      const text = await readField(engine, tables.claims.key(uid), clientMessageId, { name: "claimed" });
      return text === null ? null : codec.read(uid, (open) => openedClaim(clientMessageId, text, open));
    },

    async runs(uid, limit) {
      const order = { read: "range", key: tables.runOrder.key(uid), reverse: true, limit } as const;
      const header = { read: "fields", key: tables.header.key(uid), fields: [HEADER.run] } as const;
      const [newest, [last = null]] = await engine.read([order, header], { name: "runs" });
      const active = activeIn(last, uid);
      const ended = newest.map(([runId]) => runId).filter((runId) => runId !== active?.runId);
      const fields = ended.slice(0, active ? limit - 1 : limit).reverse();
      const reads = [{ read: "fields", key: tables.runs.key(uid), fields }] as const;
      const [found] = fields.length > 0 ? await engine.read(reads, { name: "runs" }) : [[]];
      return codec.read(uid, (open) => [
        ...found.flatMap((json) => (json === null ? [] : [summaryOf(json, uid, open)])),
        ...(active ? [summaryFrom(openedRun(active, open))] : []),
      ]);
    },

    async run(uid, runId) {
      const ended = { read: "fields", key: tables.runs.key(uid), fields: [runId] } as const;
      const header = { read: "fields", key: tables.header.key(uid), fields: [HEADER.run] } as const;
      const [[json = null], [last = null]] = await engine.read([ended, header], { name: "run" });
      if (json !== null) return codec.read(uid, (open) => summaryOf(json, uid, open));
      const active = activeIn(last, uid);
      if (active === null || active.runId !== runId) return null;
      return codec.read(uid, (open) => summaryFrom(openedRun(active, open)));
    },
  };
}

/** With what is in other branches named so. */
function marked(messages: Message[], hidden: Ranges): Message[] {
  if (hidden.length === 0) return messages;
  return messages.map((message) =>
    isHidden(hidden, message.id) ? { ...message, otherBranch: true as const } : message,
  );
}

/** The numbers from `last` down that are not hidden, `limit` at most. */
function newestShown(last: number, limit: number, hidden: Ranges): number[] {
  const numbers: number[] = [];
  for (let number = last; number > 0 && numbers.length < limit; number--)
    if (!isHidden(hidden, String(number))) numbers.push(number);
  return numbers;
}

/** The newest messages. */
function pageOf(uid: string, { limit, budget }: { limit: number; budget: number }) {
  const to = { key: tables.header.key(uid), field: HEADER.messages };
  return { read: "page" as const, key: tables.messages.key(uid), to, limit, budget };
}

interface StoredThread {
  slug: string;
  snapshot: string | null;
  catalog: string | null | undefined;
  run: string | null | undefined;
  /** The newest first. */
  entries: readonly Entry[];
}

function recordFrom(
  uid: string,
  { rev, op, fence, state, messages, waiting, catalogId, hidden }: Facts,
  stored: StoredThread,
  { open, messages: known }: { open: Open; messages: KnownMessages },
): { record: ThreadRecord; reply: string | undefined } {
  const { snapshot } = stored;
  const { reply, ...run } = stored.run
    ? openedRun(readRun(jsonValue(stored.run), uid), open)
    : { runId: null };
  const ranges = rangesFrom(hidden);
  const record: ThreadRecord = {
    uid,
    slug: stored.slug,
    // A thread that has only a catalog has no revision and no state yet.
    rev,
    lastOp: op,
    fence,
    state: readState(state ?? "idle", uid),
    snapshot: snapshot === null ? null : openedSnapshot(snapshot, open),
    catalog: catalogFrom(stored.catalog, uid),
    catalogId,
    run: run.runId === null ? null : run,
    tail: chosenOf(messagesFrom(stored.entries, uid, open, known).reverse(), ranges),
    messageCount: messages,
    waitingCount: waitingRunsOf(waiting).length,
    ...(ranges.length > 0 ? { hidden: ranges } : {}),
  };
  return { record, reply };
}

function summaryOf(json: string, uid: string, open: Open): RunSummary {
  return openedSummary(readRunSummary(jsonValue(json), uid), open);
}

/** The header's last run, if it has not ended. One that cannot be read is none here: a load says so, and mends it. */
function activeIn(last: string | null, uid: string): StoredRun | null {
  try {
    const run = last ? readRun(jsonValue(last), uid) : null;
    return run?.outcome === null ? run : null;
  } catch (error) {
    if (error instanceof NewerRecord || !(error instanceof UnreadableRecord)) throw error;
    return null;
  }
}

/** Of a message's id; 0 if it is not an id. */
export function numberOf(id: string): number {
  return /^[1-9][0-9]{0,14}$/.test(id) ? Number(id) : 0;
}
