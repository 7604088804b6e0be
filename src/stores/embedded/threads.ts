import { claimOf } from "../../domain/message-claim.ts";
import { imagesName, wholeMessage, wholeRun } from "../../domain/kept-text.ts";
import { contentChars } from "../../domain/message.ts";
import type { Message, RunRecord } from "../../domain/message.ts";
import { LOOK_CHARS, LOOK_MESSAGES } from "../../store/threads.ts";
import type { ThreadStore } from "../../store/threads.ts";
import { imagesFrom } from "../records.ts";
import { commitThread, findClaim, joinQueue } from "./commit.ts";
import type { EmbeddedDb } from "./db.ts";
import { rateMessage } from "./rate.ts";
import { embeddedSalvage } from "./salvage.ts";
import { newHeader } from "./thread-records.ts";
import type { ThreadRecords } from "./thread-records.ts";

/** The last operation of a deleted thread: differs from any before, so that readers notice. */
const DELETION = "deleted";

/** A message's id is its position, in plain decimal digits; NaN for any other text. */
function positionOf(id: string): number {
  const position = Number(id);
  return String(position) === id ? position : Number.NaN;
}

export function embeddedThreads(db: EmbeddedDb, records: ThreadRecords): ThreadStore {
  function runOf(uid: string): RunRecord | null {
    const run = records.run(uid);
    return run && wholeOf(uid, run);
  }

  function wholeOf(uid: string, run: RunRecord): RunRecord {
    return run.kept && run.sealed === undefined
      ? wholeRun(run, records.text(uid, run.runId, run.kept.parts))
      : run;
  }

  function whole(uid: string, message: Message): Message {
    const { runId, kept, sealed } = message;
    // Encrypted parts are joined after they are decrypted (content-keys/).
    return kept && sealed === undefined
      ? wholeMessage(message, records.text(uid, runId, kept.parts))
      : message;
  }

  /** The newest messages up to a position whose contents fit the budget, at least one; oldest first. */
  function tailOf(
    uid: string,
    position: number,
    { budgetChars, limit = Infinity }: { budgetChars: number; limit?: number },
  ): Message[] {
    const tail: Message[] = [];
    let left = budgetChars;
    for (const message of records.messages(uid, position)) {
      left -= contentChars(message);
      if (tail.length === limit || (left < 0 && tail.length > 0)) break;
      tail.push(message);
    }
    return tail.reverse();
  }

  function behind(uid: string, from: number): { messages: Message[]; to: number } {
    const messages: Message[] = [];
    let [to, left] = [from, LOOK_CHARS];
    for (const { position, message } of records.messagesBehind(uid, from)) {
      left -= contentChars(message);
      if (to > from && (left < 0 || position - from > LOOK_MESSAGES)) break;
      to = position;
      if (!message.aside) messages.push(whole(uid, message));
    }
    return { messages, to };
  }

  return {
    ...embeddedSalvage(db, records, { message: whole, run: wholeOf }),

    load: (uid, budgetChars, runs = "last") =>
      db.read(`load thread ${uid}`, () => {
        const header = records.header(uid);
        if (header === undefined) return null;
        const { slug, rev, lastOp, fence, state, snapshot, messageCount, waiting } = header;
        const inParts = runs === "last-in-parts";
        const tail = tailOf(uid, messageCount, { budgetChars });
        return {
          uid,
          slug,
          rev,
          lastOp: lastOp?.opId ?? null,
          fence,
          state,
          snapshot,
          catalog: records.catalog(uid),
          run: runs === "active" && state === "idle" ? null : inParts ? records.run(uid) : runOf(uid),
          tail: inParts ? tail : tail.map((message) => whole(uid, message)),
          messageCount,
          waitingCount: waiting.length,
        };
      }),

    commit: (commit) => db.change(`save thread ${commit.uid}`, () => commitThread(records, commit)),

    keepPart: ({ uid, fence, runId, nth, text }) =>
      db.change(`keep a part of a reply in thread ${uid}`, () => {
        if (records.header(uid)?.fence !== fence) return false;
        records.putPart(uid, runId, nth, text);
        return true;
      }),

    keptText: (uid, runId, parts, from) =>
      db.read(`read a reply of thread ${uid}`, () => records.text(uid, runId, parts, from)),

    keepImages: ({ uid, runId, images }) =>
      db.change(`keep images in thread ${uid}`, () => {
        if (records.isDeleted(uid)) return false;
        records.putPart(uid, imagesName(runId), 0, JSON.stringify(images));
        return true;
      }),

    keptImages: (uid, runId) =>
      db.read(`read images of thread ${uid}`, () => imagesFrom(records.text(uid, imagesName(runId), 1))),

    dropImages: (uid, runId) =>
      db.change(`drop images of thread ${uid}`, () => records.removePart(uid, imagesName(runId), 0)),

    wait: (uid, message, max) =>
      db.change(`queue a message in thread ${uid}`, () => {
        if (records.isDeleted(uid)) return { type: "deleted" as const };
        const header = records.header(uid);
        const saidBefore = findClaim(records, uid, claimOf(message));
        if (saidBefore) return saidBefore;
        if (header === undefined || header.fence === null) return { type: "free" as const };
        const joined = joinQueue(records, { uid, header, message, max });
        return joined === "full" ? { type: "full" as const } : { type: joined, fence: header.fence };
      }),

    waitingRuns: (uid) =>
      db.read(`list what waits in thread ${uid}`, () => records.header(uid)?.waiting ?? []),

    setCatalog: (uid, slug, catalog) =>
      db.change(`save the catalog of thread ${uid}`, () => {
        if (records.isDeleted(uid)) return false;
        if (records.header(uid) === undefined) records.putHeader(uid, newHeader(slug));
        records.putCatalog(uid, catalog);
        return true;
      }),

    rate: (rating) =>
      db.change(`rate a reply of thread ${rating.uid}`, () => {
        const position = positionOf(rating.messageId);
        return position >= 1 ? rateMessage(records, position, rating) : { type: "not-found" as const };
      }),

    history: (uid, { limit, before, budgetChars }) =>
      db.read(`read the history of thread ${uid}`, () => {
        const count = records.header(uid)?.messageCount ?? 0;
        const end = before === null ? count + 1 : positionOf(before);
        if (!(end >= 1 && end <= count + (before === null ? 1 : 0))) return [];
        const page = tailOf(uid, end - 1, { budgetChars: budgetChars ?? Infinity, limit });
        return budgetChars === undefined ? page.map((message) => whole(uid, message)) : page;
      }),

    look: (uid, from) =>
      db.read(`look at thread ${uid}`, () => {
        const header = records.header(uid);
        const messageCount = header?.messageCount ?? 0;
        const state = header?.state ?? "idle";
        const runId = records.runs(uid, 1)[0]?.runId ?? null;
        const isPersons = state === "waiting_for_person" || state === "with_person";
        const snapshot = (isPersons && header?.snapshot) || undefined;
        const lastOp = header?.lastOp?.opId ?? null;
        if (records.isDeleted(uid)) {
          return {
            state,
            isDeleted: true,
            runId,
            lastOp: DELETION,
            messageCount,
            messages: [],
            to: from ?? 0,
          };
        }
        const seen = { state, runId, lastOp, ...(snapshot === undefined ? {} : { snapshot }), messageCount };
        return from === null
          ? { ...seen, messages: [], to: messageCount }
          : { ...seen, ...behind(uid, from) };
      }),

    lastOp: (uid) =>
      db.read(`read the last change of thread ${uid}`, () =>
        records.isDeleted(uid) ? DELETION : (records.header(uid)?.lastOp?.opId ?? null),
      ),

    // No other process commits: readers are notified inside this one.
    watch: (uid) => db.read(`watch thread ${uid}`, () => {}),
    watchers: (uid) => db.read(`watch thread ${uid}`, () => []),

    claimed: (uid, clientMessageId) =>
      db.read(`look for a message of thread ${uid}`, () => records.claim(uid, clientMessageId) ?? null),

    run: (uid, runId) => db.read(`read a run of thread ${uid}`, () => records.summary(uid, runId)),

    runs: (uid, limit) => db.read(`list the runs of thread ${uid}`, () => records.runs(uid, limit).reverse()),
  };
}
