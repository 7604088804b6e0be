import { asideMessage, isSealed } from "../../domain/message.ts";
import type { Message, RunRecord } from "../../domain/message.ts";
import { UnreadableRecord } from "../../store.ts";
import type { SealedPart, ThreadStore, UnreadablePart } from "../../store.ts";
import { isObject, isText } from "../checks.ts";
import type { Reader } from "../checks.ts";
import { newestWithin } from "../newest-within.ts";
import { catalogKind, messageKind, readText, runKind, summaryKind, waitingKind } from "../records.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";
import { holdKind } from "./liveness.ts";
import { headerKind, newHeader } from "./thread-records.ts";
import type { Header, ThreadRecords } from "./thread-records.ts";

/** As it is stored, whatever it is. */
const raw: Reader<unknown> = (value) => value;

/** Reads what is readable of a thread, and sets the rest aside. */
export function embeddedSalvage(
  db: EmbeddedDb,
  records: ThreadRecords,
  whole: {
    message: (uid: string, message: Message) => Message;
    run: (uid: string, run: RunRecord) => RunRecord;
  },
): Pick<ThreadStore, "salvage" | "setAside"> {
  return {
    salvage: (uid, budgetChars) =>
      db.read(`salvage thread ${uid}`, () => {
        const stored = db.get(["h", keyPart(uid)], raw);
        if (stored === undefined) return null;
        const parts: UnreadablePart[] = [];
        const sealed: SealedPart[] = [];
        const tried = attempts(parts);
        const header =
          tried("header", "", stored, headerKind.read, ["h", uid]) ?? rebuiltHeader(db, uid, stored);

        for (const runId of header.waiting) {
          const value = db.get(["q", keyPart(uid), keyPart(runId)], raw);
          if (value === undefined) continue;
          const record = tried("waiting", runId, value, waitingKind.read, ["q", uid]);
          if (record?.sealed !== undefined) {
            sealed.push({ part: "waiting", place: runId, stored: JSON.stringify(value), record });
          }
        }
        for (const { key, value } of db.range(["rs", keyPart(uid)], raw)) {
          tried("summary", String(key[2]), value, summaryKind.read, key);
        }
        const messages: Message[] = [];
        for (const { key, value } of db.range(["m", keyPart(uid)], raw)) {
          const place = String(key[2]);
          const message = tried("message", place, value, messageKind.read, key);
          if (message && !message.aside) messages.push(message);
          if (message && isSealed(message)) {
            sealed.push({ part: "message", place, stored: JSON.stringify(value), record: message });
          }
        }
        const catalog = db.get(["t", keyPart(uid)], raw);
        const run = db.get(["r", keyPart(uid)], raw);
        const readable = run === undefined ? null : tried("run", "", run, runKind.read, ["r", uid]);
        if (readable?.sealed !== undefined) {
          sealed.push({ part: "run", place: "", stored: JSON.stringify(run), record: readable });
        }
        const { slug, rev, fence, state, snapshot, messageCount, waiting, lastOp } = header;
        const record = {
          uid,
          slug,
          rev,
          lastOp: lastOp?.opId ?? null,
          fence,
          state,
          snapshot,
          catalog:
            catalog === undefined ? [] : (tried("catalog", "", catalog, catalogKind.read, ["t", uid]) ?? []),
          run: readable && whole.run(uid, readable),
          tail: newestWithin(messages, budgetChars).map((message) => whole.message(uid, message)),
          messageCount,
          waitingCount: waiting.length,
        };
        return { record, parts, sealed };
      }),

    setAside: (uid, parts) =>
      db.change(`set parts of thread ${uid} aside`, () => {
        if (records.isDeleted(uid)) return;
        const isHeaderRebuilt = parts.some(({ part }) => part === "header");
        const stored = isHeaderRebuilt ? db.get(["h", keyPart(uid)], raw) : undefined;
        if (stored !== undefined) putRebuilt(uid, rebuiltHeader(db, uid, stored));
        for (const part of parts) {
          const place = part.place === "" ? [] : [keyPart(part.place)];
          db.put(["aside", keyPart(uid), part.part, ...place], part.stored);
          takeOut(uid, part);
        }
      }),
  };

  /** The thread's holder and deadline are lost with its header, and removed from their lists. */
  function putRebuilt(uid: string, header: Header): void {
    const holds = [...db.range(["held"], holdKind.read)].filter(({ value }) => value.uid === uid);
    const deadlines = [...db.range(["due"], readText)].filter(({ value }) => value === uid);
    for (const { key } of [...holds, ...deadlines]) db.remove(key);
    records.putHeader(uid, header);
  }

  function takeOut(uid: string, { part, place }: UnreadablePart): void {
    switch (part) {
      case "message":
        return records.putMessage(uid, Number(place), asideMessage(place));
      case "waiting": {
        const header = records.header(uid);
        if (header) {
          records.putHeader(uid, { ...header, waiting: header.waiting.filter((runId) => runId !== place) });
        }
        return records.removeWaiting(uid, place);
      }
      case "catalog":
        return records.putCatalog(uid, []);
      case "summary":
        return db.remove(["rs", keyPart(uid), Number(place)]);
      // Replaced: the header just now, the rest by the next commit.
      case "header":
      case "state":
      case "snapshot":
      case "run":
        return;
    }
  }
}

/** The header as far as the thread's other records tell. */
function rebuiltHeader(db: EmbeddedDb, uid: string, stored: unknown): Header {
  const known = isObject(stored) ? stored : {};
  const lastOf = (kind: string) => {
    const [last] = db.range([kind, keyPart(uid)], raw, { reverse: true, limit: 1 });
    return Number(last?.key[2] ?? 0);
  };
  return {
    ...newHeader(isText(known["slug"]) ? known["slug"] : ""),
    createdAtMs: typeof known["createdAtMs"] === "number" ? known["createdAtMs"] : null,
    messageCount: lastOf("m"),
    runCount: lastOf("rs"),
    waiting: [],
  };
}

/** Reads a part; an unreadable one is noted, and null. */
function attempts(parts: UnreadablePart[]) {
  return <T>(
    part: UnreadablePart["part"],
    place: string,
    value: unknown,
    read: Reader<T>,
    key: Key,
  ): T | null => {
    try {
      return read(value, key);
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      parts.push({ part, place, stored: JSON.stringify(value), error });
      return null;
    }
  };
}
