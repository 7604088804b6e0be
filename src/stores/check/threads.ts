import { holderOf } from "../../domain/fence.ts";
import type { Engine, Pair, Write } from "../engine.ts";
import { jsonValue } from "../json-value.ts";
import { readRun, readState, readUserMessage } from "../records.ts";
import { fieldIs } from "../steps/field-is.ts";
import { ownedThread, ownersOf } from "../steps/orders/owners.ts";
import { isDeleted, waitingRunsOf } from "../steps/threads/facts.ts";
import { catalogFrom } from "../steps/threads/records.ts";
import { bucketOf, HEADER, tables } from "../tables.ts";
import { mending, misreading, put } from "./checker.ts";
import type { Checker, Fault } from "./checker.ts";
import { isResting } from "./holds.ts";
import { isBeingDeleted } from "./orders.ts";
import { messageFaults, messagesPage } from "./messages.ts";
import { runFaults } from "./runs.ts";

const FIELDS = [
  HEADER.slug,
  HEADER.fence,
  HEADER.state,
  HEADER.waiting,
  HEADER.dueAtMs,
  HEADER.op,
  HEADER.messages,
  HEADER.catalog,
  HEADER.run,
] as const;

/** A thread's header as it was read. */
interface Header {
  uid: string;
  key: string;
  slug: string | null;
  fence: string | null;
  state: string | null;
  waiting: string | null;
  dueAtMs: string | null;
  op: string | null;
}

/** Rules for a thread: its header decides its state, its hold, its deadline, and which messages it has. */
export function threadCheckers(engine: Engine, nowMs: () => number): Record<"header", Checker[]> {
  const mend = mending(engine);

  /** A user may have a name for it nevertheless, which the list of owners lacks. */
  async function nameFaults({ slug, uid }: Header): Promise<Fault[]> {
    const [owner = null] = slug ? await ownersOf(engine, slug, [uid]) : [];
    if (isBeingDeleted(owner, nowMs())) return [];
    if (slug && (await ownedThread(engine, slug, uid, owner))) return [];
    return [{ rule: "thread has no name", what: uid, unnamed: uid }];
  }

  /** Both lists: whoever looks for the holds of a dead process looks into them. */
  async function holdFaults({ uid, key, fence }: Header): Promise<Fault[]> {
    if (!fence) return [];
    const [bucket, holder] = [bucketOf(uid), holderOf(fence)];
    const [holders, held] = [tables.holders.key(bucket), tables.held.key(bucket, holder)];
    const [[isHolder = null], [listed = null]] = await engine.read([
      { read: "fields", key: holders, fields: [holder] },
      { read: "fields", key: held, fields: [uid] },
    ]);
    if (isHolder !== null && listed === fence) return [];
    const repair = mend(
      [fieldIs(key, HEADER.fence, fence)],
      { write: "set", key: holders, fields: [[holder, ""]] },
      { write: "set", key: held, fields: [[uid, fence]] },
    );
    return [{ rule: "thread is held and not listed", what: key, mend: repair }];
  }

  function deadlineFaults({ uid, key, state, fence, dueAtMs, op }: Header, listed: number | null): Fault[] {
    if (!isResting(state, fence)) return [];
    const known = Number(dueAtMs);
    if (known > 0 && listed === known) return [];
    const atMs = known > 0 ? known : Math.floor(nowMs());
    const noted: Write = { write: "set", key, fields: [[HEADER.dueAtMs, String(atMs)]] };
    const repair = mend([fieldIs(key, HEADER.op, op)], put(tables.due.key(bucketOf(uid)), uid, atMs), noted);
    return [{ rule: "resting thread has no deadline", what: key, mend: repair }];
  }

  /** Each waiting run has a text, and each text a run. */
  function queueFaults({ uid, key, waiting, fence }: Header, texts: readonly Pair[]): Fault[] {
    const queue = tables.waiting.key(uid);
    const runs = waitingRunsOf(waiting);
    const isAsRead = fieldIs(key, HEADER.waiting, waiting);
    const found: Fault[] = [];
    if (runs.length > 0 && !fence) {
      found.push({ rule: "messages wait and nobody holds the thread", what: `${uid}: ${runs.length}` });
    }
    const known = new Set(texts.map(([run]) => run));
    for (const run of runs.filter((one) => !known.has(one))) {
      const left = runs.filter((one) => one !== run).join(" ");
      const shorter: Write = { write: "set", key, fields: [[HEADER.waiting, left]] };
      const repair = mend([isAsRead, fieldIs(queue, run, null)], shorter);
      found.push({ rule: "waiting message has no text", what: `${key} ${run}`, mend: repair });
    }
    for (const [run] of texts.filter(([one]) => !runs.includes(one))) {
      const repair = mend([isAsRead], { write: "remove", key: queue, fields: [run] });
      found.push({ rule: "text of a message that does not wait", what: `${queue} ${run}`, mend: repair });
    }
    return found;
  }

  async function look({ key, id: uid }: { key: string; id: string }): Promise<Fault[]> {
    const [fields, messages, texts, [lastRun], [listedDue = null], runCount, orderedCount] =
      await engine.read([
        { read: "fields", key, fields: FIELDS },
        messagesPage(uid, 1),
        { read: "hash", key: tables.waiting.key(uid) },
        { read: "fields", key: tables.lastRun.key(uid), fields: ["run"] },
        { read: "scores", key: tables.due.key(bucketOf(uid)), members: [uid] },
        { read: "size", key: tables.runs.key(uid) },
        { read: "number", key: tables.runOrder.key(uid) },
      ]);
    const [slug = null, fence = null, state = null, waiting = null, dueAtMs = null, op = null] = fields;
    const [count, catalog, activeRun] = fields.slice(6);
    const header = { uid, key, slug, fence, state, waiting, dueAtMs, op };
    if (fields.every((field) => field === null) || isDeleted(header)) return [];

    const recentRuns = [activeRun, lastRun].flatMap((json) => (json ? [jsonValue(json)] : []));
    const waitingRuns = new Set(waitingRunsOf(waiting));
    const waitingRecords = texts.filter(([run]) => waitingRuns.has(run)).map(([, json]) => jsonValue(json));
    const unreadable = [
      () => readState(state || "idle", uid),
      () => catalogFrom(catalog, uid),
      ...recentRuns.map((run) => () => readRun(run, uid)),
      ...waitingRecords.map((record) => () => readUserMessage(record, uid)),
    ].flatMap((read) => misreading(read) ?? []);
    const found = await Promise.all([
      nameFaults(header),
      holdFaults(header),
      messageFaults(engine, uid, { count: Number(count ?? 0), first: messages }),
      runFaults(engine, uid, { runCount, orderedCount, recentRuns }),
    ]);
    const faults = [...deadlineFaults(header, listedDue), ...queueFaults(header, texts), ...found.flat()];
    const [what] = unreadable;
    return what === undefined ? faults : [...faults, { rule: "record cannot be read", what }];
  }

  return { header: [{ of: "key", look }] };
}
