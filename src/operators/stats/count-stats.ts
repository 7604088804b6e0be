import type { ThreadObserver } from "../../threads/dependencies.ts";
import type { Usage } from "../../../machines/run.ts";
import type { Agent, Money, OnAsked } from "../../agent.ts";
import type { Clock } from "../../clock.ts";
import { dayOf } from "../../domain/day.ts";
import type { HandOffRating } from "../../domain/threads/desk.ts";
import type { Feedback } from "../../domain/threads/message.ts";
import { messageOf } from "../../errors.ts";
import type { PlainLog } from "../../log.ts";
import type { CountedStats, StatsStore } from "../../store.ts";
import { costName, peopleName, tookName, waitName } from "./stats-names.ts";
import type { StatName } from "./stats-names.ts";

/**
 * Counts events of the channels in memory, and adds them to the store about once a second: no message waits for it. A
 * killed process loses its counts since the last time. Counts that the store did not confirm are sent again under the
 * same number, and so count once; meanwhile new ones are summed up, so that an outage costs no memory.
 */
export interface StatCounts {
  /** `userId`: the user who wrote. */
  add(slug: string, counts: Partial<Record<StatName, number>>, userId?: string): void;
  /** Counts runs, messages and waits for a first text, and passes everything on to `others`. */
  observer(others: ThreadObserver): ThreadObserver;
  /** The same agent; counts the tokens of each turn, however it ends. */
  agent(counted: Agent): Agent;
  /** Adds the remaining counts and stops, when no turn is under way any more. Resolves even during an outage of the store. */
  stop(): Promise<void>;
}

const FLUSH_MS = 1_000;

/** The counts of a channel and a day. */
interface Open {
  slug: string;
  day: string;
  counts: Record<string, number>;
  visitors: Set<string>;
  nth: number;
  /** Sent, and not confirmed yet. */
  sent: CountedStats | null;
}

export function createStatCounts({
  store,
  processId,
  clock,
  log,
}: {
  store: StatsStore;
  processId: string;
  clock: Pick<Clock, "now">;
  log: Pick<PlainLog, "warn">;
}): StatCounts {
  const open = new Map<string, Open>();
  /** The counts that were added to last: nearly always the next ones, too. */
  let latest: Open | null = null;
  /** The model's turns and summaries under way. */
  const turns = new Set<Promise<unknown>>();
  let timer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> | null = null;
  let isAway = false;

  function openFor(slug: string, day: string): Open {
    if (latest?.slug === slug && latest.day === day) return latest;
    const key = `${slug} ${day}`;
    const found = open.get(key) ?? { slug, day, counts: {}, visitors: new Set(), nth: 0, sent: null };
    open.set(key, found);
    return (latest = found);
  }

  function add(slug: string, counts: Readonly<Record<string, number>>, userId?: string): void {
    const of = openFor(slug, dayOf(clock.now()));
    for (const name in counts) of.counts[name] = (of.counts[name] ?? 0) + (counts[name] ?? 0);
    if (userId !== undefined) of.visitors.add(userId);
    timer ??= setTimeout(flushSoon, FLUSH_MS).unref();
  }

  function addCost(slug: string, usage: Usage | null, money: Money | null): void {
    if (!usage) return;
    const spent = money ? { [costName(money.currency)]: money.micros } : {};
    add(slug, { inputTokens: usage.input, outputTokens: usage.output, ...spent });
  }

  function flushSoon(): void {
    timer = null;
    void flush();
  }

  function flush(): Promise<void> {
    flushing ??= flushAll().finally(() => (flushing = null));
    return flushing;
  }

  async function flushAll(): Promise<void> {
    const results = await Promise.allSettled([...open.values()].map(send));
    const failed = results.find((result) => result.status === "rejected");
    if (failed && !isAway)
      log.warn({ reason: messageOf(failed.reason) }, "cannot add up statistics: trying again");
    isAway = failed !== undefined;
    if ([...open.values()].some(hasMore)) timer ??= setTimeout(flushSoon, FLUSH_MS).unref();
    const today = dayOf(clock.now());
    for (const [key, of] of open) if (of.day < today && !hasMore(of)) open.delete(key);
    latest = null;
  }

  async function send(of: Open): Promise<void> {
    if (!hasMore(of)) return;
    of.sent ??= taken(of);
    await store.addStats(of.sent);
    of.sent = null;
  }

  function taken(of: Open): CountedStats {
    const { slug, day, counts, visitors } = of;
    of.counts = {};
    of.visitors = new Set();
    of.nth += 1;
    return { slug, day, by: processId, nth: of.nth, counts, visitors: [...visitors] };
  }

  return {
    add,

    observer: (others) => ({
      moved(moved) {
        if (moved.said) add(moved.slug, { messages: 1 }, moved.said.userId);
        others.moved(moved);
      },
      runEnded(ended) {
        add(ended.slug, { [`runs.${ended.outcome}`]: 1 });
        others.runEnded(ended);
      },
      takenOver: (taken) => others.takenOver(taken),
      firstText(said) {
        add(said.slug, { [waitName(said.waitedMs)]: 1 });
        others.firstText?.(said);
      },
      summarized: (made) => others.summarized?.(made),
      answererChanged(changed) {
        if (changed.how === "asked") add(changed.slug, { handoffs: 1 });
        add(changed.slug, peopleCounts(changed));
        others.answererChanged?.(changed);
      },
      handOffRated(rated) {
        const { slug, before, rating } = rated;
        // As of replies: a rating of an earlier day stays with that day.
        const counted = before && dayOf(before.atMs) === dayOf(rating.atMs) ? before : null;
        add(slug, scoreCounts(rating, 1));
        if (counted) add(slug, scoreCounts(counted, -1));
        others.handOffRated?.(rated);
      },
      rated(rated) {
        const { slug, before, feedback, atMs } = rated;
        // A rating of an earlier day stays with that day.
        const counted = before && dayOf(before.atMs) === dayOf(atMs) ? before : null;
        add(slug, thumbs({ feedback, counted }));
        others.rated?.(rated);
      },
    }),

    agent: (counted) => ({
      ...counted,
      summarize: (asked, signal) => {
        const onSpent = (usage: Usage | null, money: Money | null) => addCost(asked.slug, usage, money);
        const making = counted.summarize?.({ ...asked, onSpent }, signal) ?? Promise.resolve(null);
        const counting = making.finally(() => turns.delete(counting));
        turns.add(counting);
        return counting;
      },
      think(turn, wrote, signal, onAsked) {
        let cost = (): Usage | null => null;
        let spent = (): Money | null => null;
        const told: OnAsked = (soFar, money) => {
          cost = soFar;
          spent = money;
          onAsked?.(soFar, money);
        };
        const counting = counted.think(turn, wrote, signal, told).finally(() => {
          addCost(turn.slug, cost(), spent());
          turns.delete(counting);
        });
        turns.add(counting);
        return counting;
      },
    }),

    async stop() {
      // Each is over, or was aborted.
      await Promise.allSettled(turns);
      await flush();
      // Counts that arrived during that flush.
      if (!isAway) await flush();
      if (timer) clearTimeout(timer);
    },
  };
}

type AnswererChanged = Parameters<NonNullable<ThreadObserver["answererChanged"]>>[0];

function peopleCounts({ how, waitedMs, tookMs, ...of }: AnswererChanged): Record<string, number> {
  switch (how) {
    case "asked":
      return { [peopleName(of, "asked")]: 1 };
    case "expired":
      return { [peopleName(of, "missed")]: 1 };
    case "unanswered":
      return { [peopleName(of, "unanswered")]: 1 };
    case "taken":
      return waitedMs === null ? {} : { [peopleName(of, waitName(waitedMs))]: 1 };
    case "returned":
    case "closed":
      return tookMs === null ? {} : { [peopleName(of, tookName(tookMs))]: 1 };
    case "cancelled":
    case "queued":
      return {};
  }
}

function scoreCounts(rating: HandOffRating, change: 1 | -1): Record<string, number> {
  const name = `csat.${rating.score}` as const;
  return { [name]: change, [peopleName(rating, name)]: change };
}

function thumbs({ feedback, counted }: Record<"feedback" | "counted", Feedback | null>) {
  const change = (rating: Feedback["rating"]) =>
    Number(feedback?.rating === rating) - Number(counted?.rating === rating);
  return { thumbsUp: change("up"), thumbsDown: change("down") };
}

function hasMore({ counts, visitors, sent }: Open): boolean {
  return sent !== null || visitors.size > 0 || Object.keys(counts).length > 0;
}
