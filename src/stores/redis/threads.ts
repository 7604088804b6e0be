import { claimOf } from "../../domain/message-claim.ts";
import { wholeMessage, wholeRun } from "../../domain/kept-text.ts";
import type { Message, RunRecord, UserMessage } from "../../domain/message.ts";
import type { CommitResult, RunSummary, SaidBefore, ThreadCommit, ThreadStore } from "../../store/threads.ts";
import { holderOf } from "../../domain/fence.ts";
import { bucketOf } from "../buckets.ts";
import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { barKey, dueKey, ownKey, threadKeys } from "./keys.ts";
import {
  flag,
  listOf,
  messageEntry,
  messageFrom,
  optional,
  parsed,
  summaryOf,
  textOf,
  textOrNull,
  threadFrom,
  waitingEntry,
} from "./records.ts";

/** The thread plane: everything inside a thread, one slot for each. */
export interface RedisThreads extends Omit<ThreadStore, "commit"> {
  /** A claim stands on the beat of `heardAtMs`; null: the others have forgotten this process since, beat again. */
  commit(commit: ThreadCommit, heardAtMs: number): Promise<CommitResult | null>;
}

type Joined = { type: "waiting" | "full"; fence: string } | { type: "free" } | SaidBefore;

export function redisThreads(redis: RedisCommands): RedisThreads {
  async function textOfParts(uid: string, runId: string, parts: number): Promise<string> {
    const key = threadKeys(uid).parts;
    const names = Array.from({ length: parts }, (_, nth) => partName(runId, nth));
    const texts = parts > 0 ? await redis.read(key, "HMGET", key, ...names) : [];
    return listOf(texts).map(textOf).join("");
  }

  async function wholeMessages(uid: string, messages: Message[]): Promise<Message[]> {
    // Hardly any thread has a long one: the others wait for nothing.
    if (!messages.some(({ kept }) => kept)) return messages;
    const whole = messages.map(async (message) => {
      const { runId, kept } = message;
      return kept ? wholeMessage(message, await textOfParts(uid, runId, kept.parts)) : message;
    });
    return Promise.all(whole);
  }

  async function wholeOf(uid: string, run: RunRecord | null): Promise<RunRecord | null> {
    return run?.kept ? wholeRun(run, await textOfParts(uid, run.runId, run.kept.parts)) : run;
  }

  async function joinQueue(uid: string, message: UserMessage, max: number): Promise<Joined> {
    const { header, queue, runs, messageIds } = threadKeys(uid);
    const entry = [message.runId, waitingEntry(message), String(max), ...claimArguments(message)];
    const [type, fact] = listOf(await redis.call("wait_in_queue", [header, queue, runs, messageIds], entry));
    if (type === "waiting" || type === "full") return { type, fence: textOf(fact) };
    if (type === "said-before") return saidBefore(message, textOf(fact));
    return { type: "free" };
  }

  return {
    async load(uid, budgetChars, runs = "last") {
      const { header, messages, queue } = threadKeys(uid);
      const reply = await redis.ask("load_thread", [header, messages, queue], [String(budgetChars), runs]);
      if (reply === null) return null;
      const record = threadFrom(uid, reply);
      const [tail, run] = await Promise.all([wholeMessages(uid, record.tail), wholeOf(uid, record.run)]);
      return { ...record, tail, run };
    },

    async keepPart({ uid, fence, runId, nth, text }) {
      const { header, parts } = threadKeys(uid);
      const kept = await redis.call("keep_part", [header, parts], [fence, partName(runId, nth), text]);
      return kept === 1;
    },

    keptText: textOfParts,

    async commit(commit, heardAtMs) {
      const reply = await redis.call("commit", commitKeys(commit), commitArguments(commit, heardAtMs));
      const result = resultFrom(commit, reply);
      if (result?.type !== "fenced" || !commit.claims || !commit.orWait) return result;
      // A step of its own: hardly any claim finds the thread held, and so hardly any brings its message twice.
      const joined = await joinQueue(commit.uid, commit.orWait.message, commit.orWait.max);
      return joined.type === "free" ? { type: "changed" } : joined;
    },

    async wait(uid, message, max) {
      const joined = await joinQueue(uid, message, max);
      return joined.type === "full" ? { type: "full" } : joined;
    },

    async setCatalog(uid, slug, catalog) {
      const { header } = threadKeys(uid);
      await redis.write(header, "HSET", header, "slug", slug, "catalog", JSON.stringify(catalog));
    },

    async history(uid, { limit, before }) {
      const { messages } = threadKeys(uid);
      if (before === null) {
        const newest = await redis.read(messages, "LRANGE", messages, String(-limit), "-1");
        return wholeMessages(uid, listOf(newest).map(messageFrom));
      }
      // Ids count up from 1 (store.ts, messageCount): an id is a place in the list.
      const place = /^[1-9][0-9]{0,14}$/.test(before) ? Number(before) : 0;
      if (place < 2) return [];
      const [count, page] = await Promise.all([
        redis.read(messages, "LLEN", messages),
        redis.read(messages, "LRANGE", messages, String(Math.max(place - 1 - limit, 0)), String(place - 2)),
      ]);
      return place > Number(count) ? [] : wholeMessages(uid, listOf(page).map(messageFrom));
    },

    async run(uid, runId) {
      const { runs } = threadKeys(uid);
      const summary = textOrNull(await redis.read(runs, "HGET", runs, runId));
      return summary === null ? null : parsed<RunSummary>(summary);
    },

    async runs(uid, limit) {
      const { runs, runOrder } = threadKeys(uid);
      const reply = await redis.ask("list_runs", [runs, runOrder], [String(limit)]);
      return listOf(reply).map((text) => parsed<RunSummary>(textOf(text)));
    },
  };
}

function commitKeys({ uid, fence, takesFrom }: ThreadCommit): string[] {
  const { header, messages, queue, runs, runOrder, messageIds } = threadKeys(uid);
  const bucket = bucketOf(uid);
  const own = ownKey(bucket, holderOf(fence));
  const bar = barKey(bucket, holderOf(fence));
  const taken = takesFrom === null ? own : ownKey(bucket, holderOf(takesFrom));
  return [header, messages, queue, runs, runOrder, dueKey(bucket), own, taken, bar, messageIds];
}

/** The arguments of `commit` in functions.lua, counted there from 1. */
function commitArguments(commit: ThreadCommit, heardAtMs: number): string[] {
  const { endedRun, run } = commit;
  return [
    commit.opId,
    commit.fence,
    commit.claims ? String(heardAtMs) : "",
    optional(commit.takesFrom),
    String(commit.rev),
    commit.uid,
    commit.slug,
    String(commit.atMs),
    commit.snapshot,
    commit.state,
    JSON.stringify(run),
    optional(commit.startsWaiting),
    flag(commit.holds),
    commit.deadlineMs === null ? "" : String(commit.deadlineMs),
    run.runId,
    summaryOf(run),
    endedRun ? endedRun.runId : "",
    endedRun ? summaryOf(endedRun) : "",
    ...(commit.orWait ? claimArguments(commit.orWait.message) : NO_CLAIM),
    ...commit.messages.map(messageEntry),
  ];
}

const NO_CLAIM = ["", ""];

/** The message's id, and the run and text that it is claimed for. */
function claimArguments(message: UserMessage): string[] {
  const claim = claimOf(message);
  return claim ? [claim.clientMessageId, `${claim.runId}:${claim.textHash}`] : NO_CLAIM;
}

function saidBefore(message: UserMessage, claimed: string): SaidBefore {
  const [runId = "", textHash = ""] = claimed.split(":");
  return { type: "said-before", runId, isSameText: textHash === claimOf(message)?.textHash };
}

function resultFrom({ orWait }: ThreadCommit, reply: Reply): CommitResult | null {
  const [first, second, third] = listOf(reply);
  const type = textOf(first);
  switch (type) {
    case "committed": {
      const next = textOrNull(third);
      return { type, rev: Number(second), next: next === null ? null : parsed<UserMessage>(next) };
    }
    case "waiting":
    case "full":
      return { type, fence: textOf(second) };
    case "said-before": {
      if (!orWait) throw new Error("Cannot read a commit's answer: it claimed no message");
      return saidBefore(orWait.message, textOf(second));
    }
    case "changed":
    case "fenced":
      return { type };
    case "barred":
      return null;
    default:
      throw new Error(`Cannot read a commit's answer: no result is called ${type}`);
  }
}

function partName(runId: string, nth: number): string {
  return `${runId}:${nth}`;
}
