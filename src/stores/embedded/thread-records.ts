import { holderOf } from "../../domain/fence.ts";
import type { MessageClaim } from "../../domain/message-claim.ts";
import type { Catalog, Message, RunRecord, UserMessage } from "../../domain/message.ts";
import { summaryFrom } from "../../store/threads.ts";
import type { CommitResult, RunSummary, ThreadState } from "../../store/threads.ts";
import { isNumber, isText, kindOf, listOf, literal, nullable, optional, shape } from "../checks.ts";
import type { RecordStep } from "../checks.ts";
import {
  catalogKind,
  isThreadState,
  isUserMessage,
  messageKind,
  readNumber,
  readText,
  runKind,
  summaryKind,
  waitingKind,
} from "../records.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";
import { outboxRecords } from "./outbox.ts";
import { threadOrders } from "./thread-orders.ts";

/**
 * The records of the thread plane. A thread is a small header; what may grow is beside it under separate keys:
 * messages, runs, the waiting messages, the current run. So a step costs the same in a thread of 100,000 messages as
 * in a new one.
 */
export interface Header {
  slug: string;
  /** null before the first commit: the header then only belongs to a catalog. */
  createdAtMs: number | null;
  rev: number;
  fence: string | null;
  state: ThreadState;
  snapshot: string | null;
  messageCount: number;
  runCount: number;
  /** The queue: run ids of the waiting messages, in order of arrival. */
  waiting: string[];
  /** When the pending call expires, while the thread is listed as due. */
  dueAtMs: number | null;
  /** The last commit, to answer its repeat. */
  lastOp: { opId: string; result: Committed } | null;
  /** How many events were stored for webhooks; absent: none. */
  told?: number;
}

type Committed = Omit<
  Extract<CommitResult, { type: "committed" }>,
  "catalog" | "unreadableNext" | "watchers" | "unqueued"
>;

/** Version 2: a person may answer. */
const withPeople: RecordStep = {
  up: (header) => header,
  down: (header) =>
    header["state"] === "waiting_for_person" || header["state"] === "with_person" ? null : header,
};

export const headerKind = kindOf(
  "thread",
  shape<Header>({
    slug: isText,
    createdAtMs: nullable(isNumber),
    rev: isNumber,
    fence: nullable(isText),
    state: isThreadState,
    snapshot: nullable(isText),
    messageCount: isNumber,
    runCount: isNumber,
    waiting: listOf(isText),
    dueAtMs: nullable(isNumber),
    lastOp: nullable(
      shape<{ opId: string; result: Committed }>({
        opId: isText,
        result: shape<Committed>({
          type: literal("committed"),
          rev: isNumber,
          next: nullable(isUserMessage),
        }),
      }),
    ),
    told: optional(isNumber),
  }),
  [withPeople],
);

export const claimKind = kindOf(
  "message id",
  shape<MessageClaim>({ clientMessageId: isText, runId: isText, textHash: isText }),
);

export const newHeader = (slug: string): Header => ({
  slug,
  createdAtMs: null,
  rev: 0,
  fence: null,
  state: "idle",
  snapshot: null,
  messageCount: 0,
  runCount: 0,
  waiting: [],
  dueAtMs: null,
  lastOp: null,
});

/** What is left of a deleted thread. */
interface Tombstone {
  rev: number;
  atMs: number;
}

const tombstoneKind = kindOf("deleted thread", shape<Tombstone>({ rev: isNumber, atMs: isNumber }));

/** The parts of a thread beside its header: kinds of keys that go on with its uid. */
const PARTS = ["r", "t", "q", "m", "p", "rs", "ri", "id", "out", "aside"] as const;

export type ThreadRecords = ReturnType<typeof threadRecords>;

/** Within a read or a change. */
export function threadRecords(db: EmbeddedDb) {
  const headerKey = (uid: string): Key => ["h", keyPart(uid)];
  const runKey = (uid: string): Key => ["r", keyPart(uid)];
  const catalogKey = (uid: string): Key => ["t", keyPart(uid)];
  const messageKey = (uid: string, position: number): Key => ["m", keyPart(uid), position];
  const partKey = (uid: string, runId: string, nth: number): Key => ["p", keyPart(uid), keyPart(runId), nth];
  const summaryKey = (uid: string, position: number): Key => ["rs", keyPart(uid), position];
  const runPositionKey = (uid: string, runId: string): Key => ["ri", keyPart(uid), keyPart(runId)];
  const waitingKey = (uid: string, runId: string): Key => ["q", keyPart(uid), keyPart(runId)];
  const claimKey = (uid: string, clientMessageId: string): Key => [
    "id",
    keyPart(uid),
    keyPart(clientMessageId),
  ];
  const heldKey = (fence: string, uid: string): Key => ["held", keyPart(holderOf(fence)), keyPart(uid)];
  const dueKey = (atMs: number, uid: string): Key => ["due", atMs, keyPart(uid)];

  const tombstoneKey = (uid: string): Key => ["gone", keyPart(uid)];

  return {
    isDeleted: (uid: string) => db.has(tombstoneKey(uid)),

    /** From then on no fence can write to the thread. */
    putTombstone(uid: string, tombstone: Tombstone): void {
      if (!db.has(tombstoneKey(uid))) db.put(tombstoneKey(uid), tombstoneKind.stored(tombstone));
    },

    removeHeader: (uid: string) => db.remove(headerKey(uid)),

    /** Removes some of what is left of a thread; false: nothing was left. */
    removeSome(uid: string, limit: number): boolean {
      let left = limit;
      for (const kind of PARTS) {
        const found = [...db.range([kind, keyPart(uid)], () => null, { limit: left })];
        for (const { key } of found) db.remove(key);
        left -= found.length;
        if (left === 0) return true;
      }
      return left < limit;
    },

    header: (uid: string) => db.get(headerKey(uid), headerKind.read),
    putHeader: (uid: string, header: Header) => db.put(headerKey(uid), headerKind.stored(header)),

    run: (uid: string) => db.get(runKey(uid), runKind.read) ?? null,
    putRun: (uid: string, run: RunRecord) => db.put(runKey(uid), runKind.stored(run)),

    catalog: (uid: string) => db.get(catalogKey(uid), catalogKind.read) ?? [],
    putCatalog(uid: string, catalog: Catalog): void {
      if (catalog.length === 0) db.remove(catalogKey(uid));
      else db.put(catalogKey(uid), catalogKind.stored(catalog));
    },

    putPart: (uid: string, runId: string, nth: number, text: string) =>
      db.put(partKey(uid, runId, nth), text),
    removePart: (uid: string, runId: string, nth: number) => db.remove(partKey(uid, runId, nth)),
    /** The text of the run's first `parts` parts, without those before `from`. */
    text: (uid: string, runId: string, parts: number, from = 0): string =>
      Array.from(
        { length: Math.max(parts - from, 0) },
        (_, at) => db.get(partKey(uid, runId, from + at), readText) ?? "",
      ).join(""),

    /** Newest first, from the message at `position` on. */
    *messages(uid: string, position: number): Iterable<Message> {
      for (const { value } of db.range(["m", keyPart(uid)], messageKind.read, {
        from: messageKey(uid, position),
        reverse: true,
      })) {
        if (!value.aside) yield value;
      }
    },
    /** Oldest first, after the first `count` ones. */
    *messagesBehind(uid: string, count: number): Iterable<{ position: number; message: Message }> {
      for (const { key, value } of db.range(["m", keyPart(uid)], messageKind.read, {
        from: messageKey(uid, count + 1),
      })) {
        yield { position: Number(key[2]), message: value };
      }
    },
    message: (uid: string, position: number) => db.get(messageKey(uid, position), messageKind.read),
    putMessage: (uid: string, position: number, message: Message) =>
      db.put(messageKey(uid, position), messageKind.stored(message)),

    orders: threadOrders(db),
    outbox: outboxRecords(db),

    /** Newest first. */
    runs: (uid: string, limit: number): RunSummary[] =>
      [...db.range(["rs", keyPart(uid)], summaryKind.read, { reverse: true, limit })].map(
        ({ value }) => value,
      ),

    summary(uid: string, runId: string): RunSummary | null {
      const position = db.get(runPositionKey(uid, runId), readNumber);
      return position === undefined ? null : (db.get(summaryKey(uid, position), summaryKind.read) ?? null);
    },

    wasStarted: (uid: string, runId: string) => db.has(runPositionKey(uid, runId)),

    /** Lists the run, or updates its entry; returns the number of listed runs. */
    listRun(uid: string, run: RunRecord, runCount: number): number {
      const known = db.get(runPositionKey(uid, run.runId), readNumber);
      const position = known ?? runCount + 1;
      if (known === undefined) db.put(runPositionKey(uid, run.runId), position);
      db.put(summaryKey(uid, position), summaryKind.stored(summaryFrom(run)));
      return Math.max(runCount, position);
    },

    putSummary(uid: string, position: number, summary: RunSummary): void {
      db.put(runPositionKey(uid, summary.runId), position);
      db.put(summaryKey(uid, position), summaryKind.stored(summary));
    },

    waiting: (uid: string, runId: string) => db.get(waitingKey(uid, runId), waitingKind.read),
    putWaiting: (uid: string, message: UserMessage) =>
      db.put(waitingKey(uid, message.runId), waitingKind.stored(message)),
    removeWaiting: (uid: string, runId: string) => db.remove(waitingKey(uid, runId)),

    claim: (uid: string, clientMessageId: string) => db.get(claimKey(uid, clientMessageId), claimKind.read),
    putClaim: (uid: string, claim: MessageClaim) =>
      db.put(claimKey(uid, claim.clientMessageId), claimKind.stored(claim)),

    /** Updates the list of held threads when the fence changes. */
    moveHold(uid: string, before: string | null, after: string | null): void {
      if (before === after) return;
      if (before !== null) db.remove(heldKey(before, uid));
      if (after !== null) db.put(heldKey(after, uid), { uid, fence: after });
    },

    /** Updates the list of deadlines when the header's changes. */
    moveDeadline(uid: string, before: number | null, after: number | null): void {
      if (before === after) return;
      if (before !== null) db.remove(dueKey(before, uid));
      if (after !== null) db.put(dueKey(after, uid), uid);
    },
  };
}
