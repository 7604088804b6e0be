import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailable } from "../../store.ts";
import type { BackupAudit, BackupRecord, BackupStats, WholeThread } from "../backup/records.ts";
import { readRestoring } from "../backup/restoring.ts";
import { keyIdOf } from "../content-keys/cipher.ts";
import type { Restoring, RestoreTarget } from "../backup/source.ts";
import { embeddedChannels, removeChannel } from "./channels.ts";
import { checkFormat } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";
import { embeddedFormat, pagesOf } from "./export.ts";
import { embeddedOperators, putAudit } from "./operators.ts";
import { putStats } from "./stats.ts";
import { FILLED as FILLED_ORDERS } from "./thread-orders.ts";
import { headerKind, threadRecords } from "./thread-records.ts";
import type { ThreadRecords } from "./thread-records.ts";
import { userRecords } from "./user-records.ts";
import type { UserRecord, UserRecords } from "./user-records.ts";

const RESTORING: Key = ["restoring"];

/** The restore that has begun on this store and not ended. */
export function embeddedRestoring(db: EmbeddedDb): Promise<Restoring | null> {
  return db.read("look for a restore", () => db.get(RESTORING, readRestoring) ?? null);
}

/** Kinds of records that an empty store does not have. */
const FILLED = ["u", "us", "x", "n", "v", "e", "h", "r", "t", "m", "p", "rs", "ri", "q", "id", "gone"];

/** Many, because each change waits for the disk. */
const RECORDS_AT_ONCE = 2_000;

const HEADERS_AT_ONCE = 500;

const MOST_TRIES = 20;
const PAUSE_MS = 500;

/** The embedded store as the target of a restore. */
export function embeddedTarget(db: EmbeddedDb, dataDir: string): RestoreTarget {
  const [ofThreads, ofUsers] = [threadRecords(db), userRecords(db)];
  const channels = embeddedChannels(db);
  const operators = embeddedOperators(db);

  /** A disk that gets gigabytes may delay a step beyond its deadline; each may be repeated. */
  async function change(step: () => void): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await db.change("restore records", step);
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || tries === MOST_TRIES) throw error;
        await sleep(PAUSE_MS);
      }
    }
  }

  return {
    kind: "embedded",
    recordsAtOnce: RECORDS_AT_ONCE,
    format: () => Promise.resolve(embeddedFormat(db)),
    channels: () => channels.channels(),

    isEmpty: () =>
      db.read("look into the store", () =>
        FILLED.every((kind) => [...db.range([kind], (value) => value, { limit: 1 })].length === 0),
      ),

    restoring: () => embeddedRestoring(db),

    async begin(restoring) {
      await checkFormat(db, dataDir);
      await change(() => {
        db.put(RESTORING, restoring);
        for (const { slug } of restoring.channels) removeChannel(db, slug);
      });
    },

    put: (records, restoring) =>
      change(() => {
        for (const record of records) {
          if (record.type === "audit")
            putAudit(db, { atMs: record.entry.atMs, nth: record.nth }, record.entry);
          else if (record.type === "stats") putStats(db, record);
          else putRecord(ofThreads, ofUsers, record);
        }
        db.put(RESTORING, restoring);
      }),

    // The holders in the backup are not entered anywhere: on this store every holder but this process counts as dead.
    async finish({ channels: opened, addresses, operators: added }) {
      for (const operator of added) {
        // A start may have made its own `local` meanwhile.
        await operators.removeOperator(operator.name);
        await operators.addOperator(operator);
      }
      for (const address of addresses) await channels.blockIp(address);
      for (const channel of opened) await channels.putChannel(channel);
      // Only now may runs be taken up: their channels exist.
      for await (const page of pagesOf(db, ["h"], headerKind.read, HEADERS_AT_ONCE)) {
        await change(() => {
          for (const { key, value } of page) {
            ofThreads.moveHold(String(key[1]), null, value.fence);
            ofThreads.moveDeadline(String(key[1]), null, value.dueAtMs);
          }
        });
      }
      await change(() => {
        // The orders of restored records are filled like those of an earlier version (fill-orders.ts).
        db.remove(FILLED_ORDERS);
        db.remove(RESTORING);
      });
    },
  };
}

function putRecord(
  ofThreads: ThreadRecords,
  ofUsers: UserRecords,
  record: Exclude<BackupRecord, BackupAudit | BackupStats>,
): void {
  switch (record.type) {
    case "names":
      for (const entry of record.names) ofUsers.putThread(record.slug, record.userId, entry);
      return;
    case "user": {
      const { slug, user, createdAtMs, spent, revocations, contentKeys } = record;
      const ended = revocations === undefined ? {} : { revocations };
      const keys = contentKeys === undefined ? {} : { contentKeys };
      const nothingSpent: UserRecord = { user, createdAtMs, spent: [], ...ended, ...keys };
      const whole = spent.reduce((sum, { day, tokens }) => ofUsers.spend(sum, day, tokens), nothingSpent);
      ofUsers.putUser(slug, whole);
      for (const wrapped of Object.values(contentKeys ?? {})) ofUsers.noteWrapper(keyIdOf(wrapped) ?? "", "");
      return;
    }
    case "token": {
      const { type: _, slug, tokenHash, expiresAtMs, ...token } = record;
      // A user who came while the backup was taken may not be in it.
      if (ofUsers.user(slug, token.userId) === undefined) return;
      ofUsers.putToken(slug, tokenHash, token);
      ofUsers.putExpiry(slug, tokenHash, expiresAtMs);
      return;
    }
    case "piece":
      putLists(ofThreads, record);
      return;
    case "thread":
      putLists(ofThreads, record);
      putHeader(ofThreads, record);
      return;
    // Channels, addresses and operators are written last.
    case "channel":
    case "address":
    case "operator":
    case "moved":
  }
}

function putLists(records: ThreadRecords, piece: Extract<BackupRecord, { type: "piece" | "thread" }>): void {
  const { uid, messagesFrom, messages, runsFrom, runs, parts, claims } = piece;
  for (const [i, message] of messages.entries()) records.putMessage(uid, messagesFrom + i + 1, message);
  for (const [i, run] of runs.entries()) records.putSummary(uid, runsFrom + i + 1, run);
  for (const { runId, nth, text } of parts) records.putPart(uid, runId, nth, text);
  for (const claim of claims) records.putClaim(uid, claim);
}

function putHeader(records: ThreadRecords, thread: WholeThread): void {
  const { uid, slug, createdAtMs, rev, fence, state, snapshot, catalog, run, waiting, dueAtMs, told } =
    thread;
  if (run !== null) records.putRun(uid, run);
  records.putCatalog(uid, catalog);
  for (const message of waiting) records.putWaiting(uid, message);
  records.putHeader(uid, {
    slug,
    createdAtMs,
    rev,
    fence,
    state,
    snapshot,
    messageCount: thread.messagesFrom + thread.messages.length,
    runCount: thread.runsFrom + thread.runs.length,
    waiting: waiting.map(({ runId }) => runId),
    dueAtMs,
    lastOp: null,
    ...(told ? { told: told.count } : {}),
  });
  for (const { nth, endpoint, text } of told?.waiting ?? []) {
    records.outbox.append({ slug, endpoint, uid, nth }, text);
  }
  // The last record of a thread: all its messages are written.
  const [last] = records.messages(uid, thread.messagesFrom + thread.messages.length);
  const known = records.orders.activity(slug, uid) ?? 0;
  if (last) records.orders.putActivity(slug, uid, Math.max(known, last.createdAtMs));
  records.orders.putState(slug, uid, state);
}
