import { holderOf } from "../../domain/threads/fence.ts";
import type { Engine, Pair } from "../engine.ts";
import { jsonValue } from "../records/json-value.ts";
import { readRun, readState, readUserMessage } from "../records/records.ts";
import { fieldIs } from "../steps/field-is.ts";
import { ownedThread, ownersOf } from "../steps/orders/owners.ts";
import { isDeleted, waitingRunsOf } from "../steps/threads/facts.ts";
import { readableSummary, SUMMARY_FIELD } from "../steps/threads/history-summary.ts";
import { catalogFrom } from "../steps/threads/records.ts";
import { bucketOf, HEADER, tables } from "../tables.ts";
import { keyChecker, mending, misreading, put, remove, set } from "./checker.ts";
import type { Checker, Fault } from "./checker.ts";
import { isResting } from "./holds.ts";
import { isBeingDeleted } from "./orders.ts";
import { messageFaults, messagesPage } from "./messages.ts";
import { runFaults } from "./runs.ts";

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
export function threadChecker(engine: Engine, nowMs: () => number): Checker {
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
    const checks = [fieldIs(key, HEADER.fence, fence)];
    const mend = mending(engine, checks, set(holders, holder, ""), set(held, uid, fence));
    return [{ rule: "thread is held and not listed", what: key, mend }];
  }

  function deadlineFaults({ uid, key, state, fence, dueAtMs, op }: Header, listed: number | null): Fault[] {
    if (!isResting(state, fence)) return [];
    const known = Number(dueAtMs);
    if (known > 0 && listed === known) return [];
    // A person whose answer nobody waits for.
    if (known === 0 && state === "with_person") return [];
    const atMs = known > 0 ? known : Math.floor(nowMs());
    const list = put(tables.due.key(bucketOf(uid)), uid, atMs);
    const mend = mending(engine, [fieldIs(key, HEADER.op, op)], list, set(key, HEADER.dueAtMs, String(atMs)));
    return [{ rule: "resting thread has no deadline", what: key, mend }];
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
      const checks = [isAsRead, fieldIs(queue, run, null)];
      const mend = mending(engine, checks, set(key, HEADER.waiting, left));
      found.push({ rule: "waiting message has no text", what: `${key} ${run}`, mend });
    }
    for (const [run] of texts.filter(([one]) => !runs.includes(one))) {
      const mend = mending(engine, [isAsRead], remove(queue, run));
      found.push({ rule: "text of a message that does not wait", what: `${queue} ${run}`, mend });
    }
    return found;
  }

  return keyChecker(async ({ key, id: uid }) => {
    const reads = [
      { read: "hash", key },
      messagesPage(uid, 1),
      { read: "hash", key: tables.waiting.key(uid) },
      { read: "scores", key: tables.due.key(bucketOf(uid)), members: [uid] },
      { read: "size", key: tables.runs.key(uid) },
      { read: "number", key: tables.runOrder.key(uid) },
      { read: "fields", key: tables.parts.key(uid), fields: [SUMMARY_FIELD] },
    ] as const;
    const [pairs, messages, texts, [dueAtMs = null], ...more] = await engine.read(reads);
    const [runCount, orderedCount, [summary = null]] = more;
    const fields = new Map(pairs);
    const textOf = (field: string) => fields.get(field) ?? null;
    const header = {
      uid,
      key,
      slug: textOf(HEADER.slug),
      fence: textOf(HEADER.fence),
      state: textOf(HEADER.state),
      waiting: textOf(HEADER.waiting),
      dueAtMs: textOf(HEADER.dueAtMs),
      op: textOf(HEADER.op),
    };
    if (fields.size === 0 || isDeleted(header)) return [];

    const { state, waiting } = header;
    const [count, catalog, run] = [HEADER.messages, HEADER.catalog, HEADER.run].map(textOf);
    const lastRun = run ? jsonValue(run) : null;
    const waitingRuns = new Set(waitingRunsOf(waiting));
    const waitingRecords = texts.filter(([run]) => waitingRuns.has(run)).map(([, json]) => jsonValue(json));
    const unreadable = [
      () => readState(state || "idle", uid),
      () => catalogFrom(catalog, uid),
      ...(lastRun === null ? [] : [() => readRun(lastRun, uid)]),
      ...(textOf(HEADER.summarized) ? [() => readableSummary(summary, uid)] : []),
      ...waitingRecords.map((record) => () => readUserMessage(record, uid)),
    ].flatMap((read) => misreading(read) ?? []);
    const found = await Promise.all([
      nameFaults(header),
      holdFaults(header),
      messageFaults(engine, uid, { count: Number(count ?? 0), first: messages }),
      runFaults(engine, uid, { runCount, orderedCount, lastRun }),
    ]);
    const faults = [...deadlineFaults(header, dueAtMs), ...queueFaults(header, texts), ...found.flat()];
    const [what] = unreadable;
    return what === undefined ? faults : [...faults, { rule: "record cannot be read", what }];
  });
}
