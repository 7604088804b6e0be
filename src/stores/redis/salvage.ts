import { asideMessage, isSealed } from "../../domain/message.ts";
import type { Message, RunRecord } from "../../domain/message.ts";
import { UnreadableRecord } from "../../store.ts";
import type { SealedPart, ThreadStore, UnreadablePart } from "../../store.ts";
import { newestWithin } from "../newest-within.ts";
import { readRunSummary, readRun, readState, readUserMessage } from "../records.ts";
import type { RedisCommands } from "./commands.ts";
import { threadKeys } from "./keys.ts";
import {
  catalogFrom,
  listOf,
  messageEntry,
  messageFrom,
  numberOf,
  pairsOf,
  parsed,
  textOf,
  textOrNull,
} from "./records.ts";

/** Messages that are read at once. */
const MESSAGES_AT_ONCE = 200;

/**
 * Reads what is readable of a thread, and sets the rest aside. Plain commands on one key each: a part is copied aside
 * before it is removed. Of the parts only a queued message is compared again: it may have left the queue.
 */
export function redisSalvage(
  redis: RedisCommands,
  whole: {
    wholeMessages: (uid: string, messages: Message[]) => Promise<Message[]>;
    wholeOf: (uid: string, run: RunRecord | null) => Promise<RunRecord | null>;
  },
): Pick<ThreadStore, "salvage" | "setAside"> {
  return {
    async salvage(uid, budgetChars) {
      const { header, messages, queue, runs } = threadKeys(uid);
      const names = ["slug", "rev", "fence", "state", "snapshot", "catalog", "run", "op"];
      const [fields, waiting, summaries] = await Promise.all([
        redis.read(header, "HMGET", header, ...names),
        redis.read(queue, "LRANGE", queue, "0", "-1"),
        redis.read(runs, "HGETALL", runs),
      ]);
      const [slug, rev, fence, state, snapshot, catalog, run, op] = listOf(fields).map(textOrNull);
      if (typeof slug !== "string") return null;

      const parts: UnreadablePart[] = [];
      const sealed: SealedPart[] = [];
      const tried = attempts(parts);
      for (const entry of listOf(waiting).map(textOf)) {
        const [runId, json] = splitEntry(entry);
        const record = tried("waiting", runId, entry, () => parsed(readUserMessage, json, uid));
        if (record?.sealed !== undefined)
          sealed.push({ part: "waiting", place: runId, stored: entry, record });
      }
      for (const [runId, json] of pairsOf(summaries)) {
        tried("summary", runId, json, () => parsed(readRunSummary, json, uid));
      }
      const all: Message[] = [];
      const count = numberOf(await redis.read(messages, "LLEN", messages));
      for (let from = 0; from < count; from += MESSAGES_AT_ONCE) {
        const to = String(from + MESSAGES_AT_ONCE - 1);
        const entries = listOf(await redis.read(messages, "LRANGE", messages, String(from), to)).map(textOf);
        for (const [i, entry] of entries.entries()) {
          const place = String(from + i + 1);
          const message = tried("message", place, entry, () => messageFrom(entry, uid));
          if (message && !message.aside) all.push(message);
          if (message && isSealed(message)) {
            sealed.push({ part: "message", place, stored: entry, record: message });
          }
        }
      }
      const readable = run ? tried("run", "", run, () => parsed(readRun, run, uid)) : null;
      if (run && readable?.sealed !== undefined) {
        sealed.push({ part: "run", place: "", stored: run, record: readable });
      }
      const record = {
        uid,
        slug,
        rev: Number(rev ?? 0),
        lastOp: op ?? null,
        fence: fence ?? null,
        state: tried("state", "", state ?? "", () => readState(state ?? "idle", uid)) ?? "idle",
        snapshot: snapshot ?? null,
        catalog: tried("catalog", "", catalog ?? "", () => catalogFrom(catalog, uid)) ?? [],
        run: await whole.wholeOf(uid, readable),
        tail: await whole.wholeMessages(uid, newestWithin(all, budgetChars)),
        messageCount: count,
        waitingCount: listOf(waiting).length,
      };
      return { record, parts, sealed };
    },

    async setAside(uid, parts) {
      if (parts.length === 0) return;
      const keys = threadKeys(uid);
      const kept = parts.flatMap(({ part, place, stored }) => [`${part}:${place}`, stored]);
      await redis.write(keys.aside, "HSET", keys.aside, ...kept);
      for (const part of parts) {
        for (const [key, ...command] of removal(keys, part)) await redis.write(key, ...command);
      }
    },
  };
}

/** The commands that remove a part, each with its key in front. */
function removal(
  keys: ReturnType<typeof threadKeys>,
  { part, place, stored }: UnreadablePart,
): [key: string, ...command: string[]][] {
  const { messages, queue, header, runs, runOrder } = keys;
  switch (part) {
    case "message":
      return [[messages, "LSET", messages, String(Number(place) - 1), messageEntry(asideMessage(place))]];
    case "waiting":
      return [[queue, "LREM", queue, "1", stored]];
    case "catalog":
      return [[header, "HDEL", header, "catalog"]];
    case "summary":
      return [
        [runOrder, "LREM", runOrder, "0", place],
        [runs, "HDEL", runs, place],
      ];
    // The next commit replaces these.
    case "header":
    case "state":
    case "snapshot":
    case "run":
      return [];
  }
}

/** Reads a part; an unreadable one is noted, and null. */
function attempts(parts: UnreadablePart[]) {
  return <T>(part: UnreadablePart["part"], place: string, stored: string, read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      parts.push({ part, place, stored, error });
      return null;
    }
  };
}

function splitEntry(entry: string): [head: string, body: string] {
  const end = entry.indexOf("\n");
  return [entry.slice(0, Math.max(end, 0)), entry.slice(end + 1)];
}
