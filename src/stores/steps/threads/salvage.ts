import { asideMessage } from "../../../domain/threads/message.ts";
import type { Message, RunRecord } from "../../../domain/threads/message.ts";
import { LockedRecord, NewerRecord, UnreadableRecord } from "../../../store.ts";
import type { Salvage, ThreadRecord, ThreadStore, UnreadablePart } from "../../../store.ts";
import { keyIdOf } from "../../content-keys/cipher.ts";
import {
  openedMessage,
  openedRun,
  openedSnapshot,
  openedWaiting,
} from "../../content-keys/sealed-records.ts";
import type { Open } from "../../content-keys/sealed-records.ts";
import { slotOf } from "../../engine.ts";
import type { Engine, Entry, Pair, Write } from "../../engine.ts";
import { jsonValue } from "../../records/json-value.ts";
import { newestWithin } from "../../../domain/threads/newest-within.ts";
import { readMessage, readRun, readRunSummary, readState, readUserMessage } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { untilApplied } from "../until-applied.ts";
import { entryOf } from "./commit-writes.ts";
import { FACTS, factsFrom, waitingRunsOf } from "./facts.ts";
import type { Facts, KnownFacts } from "./facts.ts";
import { historySummaryFrom, SUMMARY_FIELD } from "./history-summary.ts";
import { readField } from "./read-field.ts";
import { catalogFrom } from "./records.ts";
import { wholeMessages, wholeRunOf } from "./texts.ts";

/** Messages that are read at once. */
const MESSAGES_AT_ONCE = 200;
const BUDGET_AT_ONCE = 1_000_000;
const SALVAGE = { name: "salvage" };

/** A thread as it is stored. */
interface StoredThread {
  facts: Facts;
  snapshot: string | null;
  catalog: string | null | undefined;
  run: string | null | undefined;
  /** Undefined: the header says that there is none. */
  historySummary: string | null | undefined;
  summaries: readonly Pair[];
  waiting: readonly Pair[];
  entries: readonly Entry[];
}

/** Reads what is readable of a thread, and sets the rest aside. */
export function salvageSteps(
  context: StepsContext,
  known: KnownFacts,
): Pick<ThreadStore, "salvage" | "setAside"> {
  const { engine, codec } = context;

  return {
    async salvage(uid, budgetChars) {
      const stored = await readStored(engine, uid);
      if (stored === null) return null;
      const { record, parts } = await codec.read(uid, (open) => salvageFrom(uid, stored, open));
      const run = await wholeRunOf(context, uid, record.run);
      const tail = await wholeMessages(context, uid, newestWithin(record.tail, budgetChars));
      return { record: { ...record, run, tail }, parts };
    },

    async setAside(uid, parts) {
      if (parts.length === 0) return;
      known.forget(uid);
      await untilApplied(`set parts of thread ${uid} aside`, async () => {
        const key = tables.header.key(uid);
        const waiting = await readField(engine, key, HEADER.waiting, { name: "setAside" });
        const applied = await engine.apply({
          name: "setAside",
          slot: slotOf(key),
          checks: [{ check: "field", key, field: HEADER.waiting, is: [waiting] }],
          writes: asideWrites(uid, parts, waiting),
        });
        return applied.type === "failed" ? undefined : true;
      });
    },
  };
}

async function readStored(engine: Engine, uid: string): Promise<StoredThread | null> {
  const fields = [...FACTS, HEADER.snapshot, HEADER.catalog, HEADER.run, HEADER.summarized];
  const reads = [
    { read: "fields", key: tables.header.key(uid), fields },
    { read: "hash", key: tables.runs.key(uid) },
    { read: "hash", key: tables.waiting.key(uid) },
    { read: "fields", key: tables.parts.key(uid), fields: [SUMMARY_FIELD] },
  ] as const;
  const [values, summaries, queue, [kept = null]] = await engine.read(reads, SALVAGE);
  const facts = factsFrom(values);
  const [snapshot = null, catalog, run, summarized] = values.slice(FACTS.length);
  if (facts.slug === null) return null;
  const historySummary = summarized ? kept : undefined;
  const runs = waitingRunsOf(facts.waiting);
  const waiting = queue.filter(([runId]) => runs.includes(runId));
  const entries = await entriesOf(engine, uid);
  return { facts, snapshot, catalog, run, historySummary, summaries, waiting, entries };
}

async function entriesOf(engine: Engine, uid: string): Promise<Entry[]> {
  const key = tables.messages.key(uid);
  const to = { key: tables.header.key(uid), field: HEADER.messages };
  const all: Entry[] = [];
  for (let from = 1; ;) {
    const page = { read: "page", key, from, to, limit: MESSAGES_AT_ONCE, budget: BUDGET_AT_ONCE } as const;
    const [entries] = await engine.read([page], SALVAGE);
    for (const entry of entries) all.push(entry);
    const last = entries.at(-1);
    if (!last) return all;
    from = last[0] + 1;
  }
}

/** Its tail has every readable message, and long texts are left out. */
function salvageFrom(uid: string, stored: StoredThread, open: Open): Salvage {
  const { facts, snapshot, catalog, run } = stored;
  const { tried, parts } = attempts(uid, open);
  for (const [runId, json] of stored.waiting) {
    tried("waiting", runId, json, (by) => openedWaiting(readUserMessage(jsonValue(json), uid), by));
  }
  for (const [runId, json] of stored.summaries) {
    tried("summary", runId, json, () => readRunSummary(jsonValue(json), uid));
  }
  const messages = stored.entries.flatMap(([number, json]) => {
    const read = (by: Open) => openedMessage(readMessage(jsonValue(json), uid), by);
    const message = tried("message", String(number), json, read);
    return message && !message.aside ? [message] : [];
  });
  const { historySummary: kept } = stored;
  const historySummary =
    kept === undefined
      ? null
      : tried("historySummary", "", kept ?? "", (by) => historySummaryFrom(kept, uid, by));
  const { slug, rev, op, fence, state, messages: messageCount, waiting } = facts;
  const record: ThreadRecord = {
    uid,
    slug: slug ?? "",
    rev,
    lastOp: op,
    fence,
    state: tried("state", "", state ?? "", () => readState(state ?? "idle", uid)) ?? "idle",
    snapshot:
      snapshot === null ? null : tried("snapshot", "", snapshot, (by) => openedSnapshot(snapshot, by)),
    catalog: tried("catalog", "", catalog ?? "", () => catalogFrom(catalog, uid)) ?? [],
    catalogId: facts.catalogId,
    run: run ? tried("run", "", run, (by) => runFrom(run, { uid, open: by, messages })) : null,
    tail: messages,
    messageCount,
    waitingCount: waitingRunsOf(waiting).length,
    ...(historySummary && { historySummary }),
  };
  return { record, parts: parts() };
}

/** A run whose text is that of its reply has none if the reply cannot be read. */
function runFrom(
  json: string,
  { uid, open, messages }: { uid: string; open: Open; messages: readonly Message[] },
): RunRecord {
  const { reply, ...run } = openedRun(readRun(jsonValue(json), uid), open);
  if (reply === undefined) return run;
  const said = messages.find(({ id }) => id === reply);
  return { ...run, lines: said ? [{ type: "delta", text: said.content }] : [] };
}

/** Copies the parts, and removes those that the next commit does not replace; the header comes last. */
function asideWrites(uid: string, parts: readonly UnreadablePart[], waiting: string | null): Write[] {
  const placesOf = (wanted: UnreadablePart["part"]) =>
    parts.filter(({ part }) => part === wanted).map(({ place }) => place);
  const [messages, queued, summaries] = [placesOf("message"), placesOf("waiting"), placesOf("summary")];
  const kept = parts.map(({ part, place, stored }): Pair => [`${part} ${place}`, stored]);
  const writes: Write[] = [{ write: "set", key: tables.aside.key(uid), fields: kept }];
  if (messages.length > 0) {
    const fields = messages.map((place) => entryOf(Number(place), asideMessage(place)));
    writes.push({ write: "set", key: tables.messages.key(uid), fields });
  }
  if (summaries.length > 0) {
    writes.push({ write: "take", key: tables.runOrder.key(uid), members: summaries });
    writes.push({ write: "remove", key: tables.runs.key(uid), fields: summaries });
  }
  const fields: Pair[] = placesOf("catalog").map(() => [HEADER.catalog, ""]);
  if (placesOf("historySummary").length > 0) {
    fields.push([HEADER.summarized, ""]);
    writes.push({ write: "remove", key: tables.parts.key(uid), fields: [SUMMARY_FIELD] });
  }
  if (queued.length > 0) {
    const left = waitingRunsOf(waiting).filter((runId) => !queued.includes(runId));
    fields.push([HEADER.waiting, left.join(" ")]);
    writes.push({ write: "remove", key: tables.waiting.key(uid), fields: queued });
  }
  if (fields.length > 0) writes.push({ write: "set", key: tables.header.key(uid), fields });
  return writes;
}

/**
 * `tried` reads a part; an unreadable one is noted, and null. One with encrypted content is damaged if it does not open
 * although others open by the same key; if none does, the key is wrong: then `parts` throws LockedRecord.
 */
function attempts(uid: string, open: Open) {
  const noted: UnreadablePart[] = [];
  const opened = new Set<string | null>();
  const unopened: { part: UnreadablePart["part"]; keyId: string | null }[] = [];

  function tried<T>(
    part: UnreadablePart["part"],
    place: string,
    stored: string,
    read: (by: Open) => T,
  ): T | null {
    let keyId: string | null | undefined;
    const noting: Open = (sealed, ...at) => {
      keyId = keyIdOf(sealed);
      return open(sealed, ...at);
    };
    try {
      const record = read(noting);
      if (keyId !== undefined) opened.add(keyId);
      return record;
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      if (keyId !== undefined) {
        if (error instanceof NewerRecord) throw error;
        unopened.push({ part, keyId });
      }
      noted.push({ part, place, stored, error });
      return null;
    }
  }

  function parts(): UnreadablePart[] {
    const locked = unopened.find(({ keyId }) => !opened.has(keyId));
    if (locked) throw new LockedRecord(locked.part, uid, "nothing of the thread opens by its key");
    return noted;
  }

  return { tried, parts };
}
