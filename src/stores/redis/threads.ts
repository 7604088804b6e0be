import { claimOf } from "../../domain/message-claim.ts";
import type { MessageClaim } from "../../domain/message-claim.ts";
import { imagesName, wholeMessage, wholeRun } from "../../domain/kept-text.ts";
import type { Message, RunRecord, UserMessage } from "../../domain/message.ts";
import type { CommitResult, SaidBefore, ThreadCommit, ThreadStore } from "../../store/threads.ts";
import { LOOK_CHARS, LOOK_MESSAGES, WATCH_MS } from "../../store/threads.ts";
import { holderOf } from "../../domain/fence.ts";
import { bucketOf } from "../buckets.ts";
import { catalogKind, imagesFrom, readRunSummary, readState, readUserMessage, runKind } from "../records.ts";
import { UnreadableRecord } from "../../store.ts";
import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { barKey, dueKey, holdersKey, ownKey, threadKeys, unqueuedKey } from "./keys.ts";
import { refsFrom } from "./outbox.ts";
import {
  catalogFrom,
  flag,
  listOf,
  messageEntry,
  messageFrom,
  numberOf,
  optional,
  parsed,
  runOfWaitingEntry,
  summaryOf,
  textOf,
  textOrNull,
  threadFrom,
  waitingEntry,
} from "./records.ts";
import { redisSalvage } from "./salvage.ts";
import type { ArgsOf, KeysOf } from "./signatures.ts";
import { rateMessage } from "./rate.ts";
import { tellEntries } from "./tell-entries.ts";

/** The thread plane: everything inside a thread, in one slot for each thread. */
export interface RedisThreads extends Omit<ThreadStore, "commit" | "watch"> {
  /** `stamp`: of the heartbeat that a claim relies on. */
  commit(commit: ThreadCommit, stamp: number): Promise<CommitResult | Barred>;
  watch(uid: string, processId: string): Promise<void>;
}

/**
 * Other processes have forgotten this one since its last beat: it may claim nothing before a beat later than
 * `untilMs`.
 */
export interface Barred {
  type: "barred";
  untilMs: number;
}

type Joined =
  | { type: "waiting" | "full"; fence: string }
  | { type: "free" }
  | { type: "deleted" }
  | SaidBefore;

export function redisThreads(redis: RedisCommands): RedisThreads {
  async function textOfParts(uid: string, runId: string, parts: number, from = 0): Promise<string> {
    const key = threadKeys(uid).parts;
    const names = Array.from({ length: Math.max(parts - from, 0) }, (_, at) => partName(runId, from + at));
    const texts = names.length > 0 ? await redis.read(key, "HMGET", key, ...names) : [];
    return listOf(texts).map(textOf).join("");
  }

  async function wholeMessages(uid: string, messages: Message[]): Promise<Message[]> {
    if (!messages.some(({ kept }) => kept)) return messages;
    const whole = messages.map(async (message) => {
      const { runId, kept, sealed } = message;
      // Encrypted parts are joined after they are decrypted (content-keys/).
      return kept && sealed === undefined
        ? wholeMessage(message, await textOfParts(uid, runId, kept.parts))
        : message;
    });
    return Promise.all(whole);
  }

  async function wholeOf(uid: string, run: RunRecord | null): Promise<RunRecord | null> {
    return run?.kept && run.sealed === undefined
      ? wholeRun(run, await textOfParts(uid, run.runId, run.kept.parts))
      : run;
  }

  async function joinQueue(uid: string, message: UserMessage, max: number): Promise<Joined> {
    const args = {
      runId: message.runId,
      entry: waitingEntry(message),
      max: String(max),
      ...claimArguments(message),
    };
    const [type, fact] = listOf(await redis.call("wait_in_queue", threadKeys(uid), args));
    if (type === "waiting" || type === "full") return { type, fence: textOf(fact) };
    if (type === "said-before") return saidBefore(claimOf(message), textOf(fact));
    return type === "deleted" ? { type } : { type: "free" };
  }

  const messagesFrom = (uid: string, reply: Reply) =>
    listOf(reply)
      .map((entry) => messageFrom(entry, uid))
      .filter(({ aside }) => !aside);

  return {
    ...redisSalvage(redis, { wholeMessages, wholeOf }),

    async load(uid, budgetChars, runs = "last") {
      const args = { budget: String(budgetChars), runs: runs === "active" ? "active" : "last" };
      const reply = await redis.ask("load_thread", threadKeys(uid), args);
      if (reply === null) return null;
      const record = threadFrom(uid, reply);
      // Hardly any thread has a long reply: the others cost no second read.
      if (runs === "last-in-parts" || !(record.run?.kept || record.tail.some(({ kept }) => kept)))
        return record;
      const [tail, run] = await Promise.all([wholeMessages(uid, record.tail), wholeOf(uid, record.run)]);
      return { ...record, tail, run };
    },

    async keepPart({ uid, fence, runId, nth, text }) {
      const args = { fence, name: partName(runId, nth), text };
      const kept = await redis.call("keep_part", threadKeys(uid), args);
      return kept === 1;
    },

    keptText: textOfParts,

    async keepImages({ uid, runId, images }) {
      const args = { name: partName(imagesName(runId), 0), images: JSON.stringify(images) };
      return (await redis.call("keep_images", threadKeys(uid), args)) === 1;
    },

    async keptImages(uid, runId) {
      const { parts } = threadKeys(uid);
      const text = await redis.read(parts, "HGET", parts, partName(imagesName(runId), 0));
      return imagesFrom(textOrNull(text));
    },

    async dropImages(uid, runId) {
      const { parts } = threadKeys(uid);
      await redis.write(parts, "HDEL", parts, partName(imagesName(runId), 0));
    },

    async commit(commit, stamp) {
      const entries = [...tellEntries(commit.tells), ...commit.messages.map(messageEntry)];
      const args = commitArguments(commit, stamp);
      const result = resultFrom(commit, await redis.call("commit", commitKeys(commit), args, entries));
      if (result.type !== "fenced" || !commit.claims || !commit.orWait) return result;
      // A step of its own: hardly any claim finds its thread held, so hardly any message is sent twice.
      const joined = await joinQueue(commit.uid, commit.orWait.message, commit.orWait.max);
      return joined.type === "free" ? { type: "changed" as const } : joined;
    },

    async wait(uid, message, max) {
      const joined = await joinQueue(uid, message, max);
      return joined.type === "full" ? { type: "full" } : joined;
    },

    async waitingRuns(uid) {
      const { queue } = threadKeys(uid);
      const entries = await redis.read(queue, "LRANGE", queue, "0", "-1");
      return listOf(entries).map((entry) => runOfWaitingEntry(textOf(entry)));
    },

    async setCatalog(uid, slug, catalog) {
      const args = { slug, catalog: JSON.stringify(catalogKind.stored(catalog)) };
      return (await redis.call("set_catalog", threadKeys(uid), args)) === 1;
    },

    async rate(rating) {
      const place = placeOf(rating.messageId);
      return place === 0 ? { type: "not-found" as const } : rateMessage(redis, place, rating);
    },

    async history(uid, { limit, before, budgetChars }) {
      const { messages } = threadKeys(uid);
      // Ids count up from 1 (store.ts, messageCount): an id is a place in the list.
      const place = before === null ? null : placeOf(before);
      if (place !== null && place < 2) return [];
      if (budgetChars !== undefined) {
        const args = {
          limit: String(limit),
          place: optional(place === null ? null : String(place)),
          budget: String(budgetChars),
        };
        return messagesFrom(uid, await redis.ask("read_page", threadKeys(uid), args)).reverse();
      }
      if (place === null) {
        const newest = await redis.read(messages, "LRANGE", messages, String(-limit), "-1");
        return wholeMessages(uid, messagesFrom(uid, newest));
      }
      const [count, page] = await Promise.all([
        redis.read(messages, "LLEN", messages),
        redis.read(messages, "LRANGE", messages, String(Math.max(place - 1 - limit, 0)), String(place - 2)),
      ]);
      return place > Number(count) ? [] : wholeMessages(uid, messagesFrom(uid, page));
    },

    async run(uid, runId) {
      const { runs } = threadKeys(uid);
      const summary = textOrNull(await redis.read(runs, "HGET", runs, runId));
      return summary === null ? null : parsed(readRunSummary, summary, uid);
    },

    async look(uid, from) {
      const args = {
        from: from === null ? "" : String(from),
        most: String(LOOK_MESSAGES),
        budget: String(LOOK_CHARS),
      };
      const [state, runId, count, items, lastOp, snapshot] = listOf(
        await redis.ask("look_at_thread", threadKeys(uid), args),
      );
      const isDeleted = state === "deleted";
      return {
        state: isDeleted ? "idle" : readState(state ?? "idle", uid),
        ...(isDeleted ? { isDeleted } : {}),
        runId: textOrNull(runId),
        lastOp: textOrNull(lastOp),
        ...(typeof snapshot === "string" ? { snapshot } : {}),
        messageCount: numberOf(count),
        messages: await wholeMessages(uid, messagesFrom(uid, items ?? [])),
        to: from === null ? numberOf(count) : from + listOf(items).length,
      };
    },

    async lastOp(uid) {
      const { header } = threadKeys(uid);
      // `peek`, since no client gets it: if it has changed, a look follows.
      return textOrNull(await redis.peek(header, "HGET", header, "op"));
    },

    async watch(uid, processId) {
      await redis.call("watch_thread", threadKeys(uid), { processId, keptMs: String(WATCH_MS) });
    },

    async watchers(uid) {
      const { watchers } = threadKeys(uid);
      return listOf(await redis.read(watchers, "ZRANGE", watchers, "0", "-1")).map(textOf);
    },

    async claimed(uid, clientMessageId) {
      const { messageIds } = threadKeys(uid);
      const claimed = textOrNull(await redis.read(messageIds, "HGET", messageIds, clientMessageId));
      if (claimed === null) return null;
      const [runId = "", textHash = ""] = claimed.split(":");
      return { clientMessageId, runId, textHash };
    },

    async runs(uid, limit) {
      const reply = await redis.ask("list_runs", threadKeys(uid), { limit: String(limit) });
      return listOf(reply).map((text) => parsed(readRunSummary, text, uid));
    },
  };
}

function commitKeys({ uid, fence, takesFrom, tells }: ThreadCommit): KeysOf<"commit"> {
  const bucket = bucketOf(uid);
  const own = ownKey(bucket, holderOf(fence));
  const { header, messages, queue, runs, runOrder, messageIds, watchers, outbox } = threadKeys(uid);
  // Key by key: spreading the thread's keys takes 4 µs, a fifth of this process's time for a commit.
  return {
    header,
    messages,
    queue,
    runs,
    runOrder,
    due: dueKey(bucket),
    own,
    taken: takesFrom === null ? own : ownKey(bucket, holderOf(takesFrom)),
    bar: barKey(bucket, holderOf(fence)),
    holders: holdersKey(bucket),
    messageIds,
    watchers,
    outbox: tells ? outbox : header,
    unqueued: tells ? unqueuedKey(bucket) : header,
  };
}

function commitArguments(commit: ThreadCommit, stamp: number): ArgsOf<"commit"> {
  const { endedRun, run } = commit;
  const { clientMessageId, claim } = claimTexts(commitClaim(commit));
  return {
    op: commit.opId,
    fence: commit.fence,
    holder: holderOf(commit.fence),
    stamp: commit.claims ? String(stamp) : "",
    takesFrom: optional(commit.takesFrom),
    revRead: String(commit.rev),
    readOp: commit.readOp ?? "",
    uid: commit.uid,
    slug: commit.slug,
    atMs: String(commit.atMs),
    snapshot: commit.snapshot,
    state: commit.state,
    run: run ? JSON.stringify(runKind.stored(run)) : "",
    starts: optional(commit.startsWaiting),
    holds: flag(commit.holds),
    deadlineMs: commit.deadlineMs === null ? "" : String(commit.deadlineMs),
    runId: run ? run.runId : "",
    summary: run ? summaryOf(run) : "",
    endedId: endedRun ? endedRun.runId : "",
    endedSummary: endedRun ? summaryOf(endedRun) : "",
    clientMessageId,
    claim,
    messagePlace: String(Number(commit.messages[0]?.id ?? 1) - 1),
    messageCount: String(commit.messages.length),
    tellCount: String(commit.tells?.length ?? 0),
    entryCount: String(commit.tells?.reduce((sum, { endpoints }) => sum + endpoints.length, 0) ?? 0),
  };
}

const NO_CLAIM = { clientMessageId: "", claim: "" };

/** The message's id, and the run and text hash that claim it. */
function claimArguments(message: UserMessage): typeof NO_CLAIM {
  return claimTexts(claimOf(message));
}

function commitClaim({ orWait, claimsId }: ThreadCommit): MessageClaim | null {
  return orWait ? claimOf(orWait.message) : (claimsId ?? null);
}

function claimTexts(claim: MessageClaim | null): typeof NO_CLAIM {
  if (!claim) return NO_CLAIM;
  return { clientMessageId: claim.clientMessageId, claim: `${claim.runId}:${claim.textHash}` };
}

function saidBefore(claim: MessageClaim | null, claimed: string): SaidBefore {
  const [runId = "", textHash = ""] = claimed.split(":");
  return { type: "said-before", runId, isSameText: textHash === claim?.textHash };
}

function resultFrom(commit: ThreadCommit, reply: Reply): CommitResult | Barred {
  const { uid, startsWaiting } = commit;
  const [first, second, third, fourth, fifth, sixth] = listOf(reply);
  const type = textOf(first);
  switch (type) {
    case "committed": {
      const next = textOrNull(third);
      const watchers = listOf(fifth).map(textOf);
      const committed = {
        type,
        rev: numberOf(second),
        ...waitingNext(next, uid),
        ...(watchers.length > 0 ? { watchers } : {}),
        ...(commit.tells ? { unqueued: refsFrom(sixth) } : {}),
      };
      return startsWaiting === null ? committed : { ...committed, catalog: catalogFrom(fourth, uid) };
    }
    case "waiting":
    case "full":
      return { type, fence: textOf(second) };
    case "said-before":
      return saidBefore(commitClaim(commit), textOf(second));
    case "changed":
    case "fenced":
    case "deleted":
      return { type };
    case "barred":
      return { type, untilMs: numberOf(second) };
    default:
      throw new Error(`Cannot read a commit's answer: no result is called ${type}`);
  }
}

/** The commit is done: even if the next waiting message is unreadable, the answer is that it is done. */
function waitingNext(entry: string | null, uid: string) {
  try {
    return { next: entry === null ? null : parsed(readUserMessage, entry, uid) };
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    return { next: null, unreadableNext: error };
  }
}

/** 0 if it is not an id. */
function placeOf(id: string): number {
  return /^[1-9][0-9]{0,14}$/.test(id) ? Number(id) : 0;
}

function partName(runId: string, nth: number): string {
  return `${runId}:${nth}`;
}
