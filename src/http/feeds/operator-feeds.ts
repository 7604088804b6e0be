import type { Operator } from "../../domain/people/operator.ts";
import { seesChannel } from "../../domain/people/operator.ts";
import type { HttpAnswer, Outlet } from "../../listener.ts";
import { readersThreadView } from "../../operators/threads/channel-threads.ts";
import type { ThreadChanges, ToldChange } from "../../operators/threads/thread-changes.ts";
import { encodeObjects } from "../stream/ndjson.ts";
import { FEED_HEADERS } from "./feed-answer.ts";
import { createFewOpen } from "./few-open.ts";

/**
 * The operators' feeds that are open in this process: changes of the threads that each operator may see. One operator
 * may have only a few, and none after the operator is removed, the key replaced, or the role no longer allows it.
 */
export interface OperatorFeeds {
  /** `after`: the cursor of the reader's last line; null: sends only new changes. */
  open(key: string, operator: Operator, after: string | null): Promise<HttpAnswer>;
}

/** One more feed ends the oldest. */
const MOST_FOR_AN_OPERATOR = 5;
const LOOK_EVERY_MS = 250;
/** Contract: at least every 20 s. */
const PING_EVERY_MS = 15_000;
/**
 * Changes from other instances are sent again this far back: clocks differ, and the order is written beside its commit.
 */
const TOLD_AGAIN_MS = 5_000;

interface OpenFeed {
  operator: Operator;
  key: string;
  /** The number of changes that its reader has. */
  count: number;
  wroteAtMs: number;
  outlet: Outlet;
  onOver: () => void;
}

/** Where a reader continues: after this many changes of the same process; on another one, from this time. */
interface Cursor {
  processId: string;
  count: number;
  atMs: number;
}

export function createOperatorFeeds(options: {
  changes: ThreadChanges;
  processId: string;
  /** The key's operator now; null: the key is no longer valid. */
  operatorOf: (key: string) => Operator | null;
  mayFollow: (operator: Operator) => boolean;
  slugs: () => readonly string[];
  isStopping: () => boolean;
  clock: { now(): number; elapsed(): number };
}): OperatorFeeds {
  const { changes, processId, clock } = options;
  const feeds = new Set<OpenFeed>();
  const few = createFewOpen(MOST_FOR_AN_OPERATOR);
  let stopLooking = () => {};

  const cursorAt = (count: number, atMs: number) =>
    Buffer.from(`${processId} ${count} ${atMs}`).toString("base64url");

  function lineOf({ nth, slug, atMs, thread, headline }: ToldChange, count: number): object {
    const cursor = cursorAt(nth > 0 ? nth : count, atMs);
    return { type: "thread", cursor, channel: slug, ...readersThreadView(thread, headline) };
  }

  function signOf(type: "ping" | "reset", { count }: { count: number }): object {
    return { type, cursor: cursorAt(count, clock.now()) };
  }

  function write(feed: OpenFeed, lines: readonly object[]): void {
    if (lines.length === 0) return;
    feed.wroteAtMs = clock.elapsed();
    feed.outlet.write(encodeObjects(lines));
  }

  function tell(feed: OpenFeed, told: readonly ToldChange[]): void {
    const fresh = told.filter(({ nth, slug }) => nth > feed.count && seesChannel(feed.operator, slug));
    feed.count = Math.max(feed.count, told.at(-1)?.nth ?? 0);
    write(
      feed,
      fresh.map((change) => lineOf(change, feed.count)),
    );
  }

  function watch(): void {
    const unsubscribe = changes.onTold((told) => {
      for (const feed of feeds) tell(feed, told);
    });
    const timer = setInterval(look, LOOK_EVERY_MS).unref();
    stopLooking = () => {
      unsubscribe();
      clearInterval(timer);
      changes.stop();
    };
  }

  function look(): void {
    const now = clock.elapsed();
    for (const feed of feeds) {
      const operator = options.operatorOf(feed.key);
      if (options.isStopping() || operator === null || !options.mayFollow(operator)) end(feed);
      else {
        feed.operator = operator;
        if (now - feed.wroteAtMs >= PING_EVERY_MS) write(feed, [signOf("ping", feed)]);
      }
    }
  }

  function end(feed: OpenFeed): void {
    if (!feeds.has(feed)) return;
    leave(feed);
    // Not in the middle of a line: a listener may have sent the space before it.
    write(feed, [signOf("ping", feed)]);
    feed.outlet.end();
  }

  function leave(feed: OpenFeed): void {
    if (!feeds.delete(feed)) return;
    feed.onOver();
    if (feeds.size === 0) stopLooking();
  }

  function add(feed: OpenFeed): void {
    if (feeds.size === 0) watch();
    feeds.add(feed);
    feed.onOver = few.add(feed.operator.name, () => end(feed));
  }

  /** The changes that the reader missed; null: unknown. */
  async function missed(operator: Operator, after: string): Promise<ToldChange[] | null> {
    const cursor = readCursor(after);
    if (!cursor) return null;
    const here = cursor.processId === processId ? changes.since(cursor.count) : null;
    if (here) return here.filter(({ slug }) => seesChannel(operator, slug));
    const seen = options.slugs().filter((slug) => seesChannel(operator, slug));
    return changes.changedSince(seen, cursor.atMs - TOLD_AGAIN_MS);
  }

  return {
    async open(key, operator, after) {
      await changes.start();
      // Changes from here on are sent to this feed, after those that it missed.
      const count = changes.count();
      const old = after === null ? [] : await missed(operator, after);
      return {
        status: 200,
        headers: FEED_HEADERS,
        stream(outlet) {
          const feed: OpenFeed = { operator, key, count, wroteAtMs: 0, outlet, onOver() {} };
          outlet.onGone(() => leave(feed));
          if (feeds.size === 0) void changes.start().catch(() => {});
          add(feed);
          const first = old === null ? signOf("reset", feed) : signOf("ping", feed);
          const lines = (old ?? []).filter(({ nth }) => nth <= count).map((change) => lineOf(change, count));
          write(feed, old === null ? [first] : [...lines, first]);
          tell(feed, changes.since(count) ?? []);
        },
      };
    },
  };
}

function readCursor(text: string): Cursor | null {
  const [processId, count, atMs, ...rest] = Buffer.from(text, "base64url").toString().split(" ");
  if (!processId || rest.length > 0 || !/^\d{1,15}$/.test(count ?? "") || !/^\d{1,15}$/.test(atMs ?? "")) {
    return null;
  }
  return { processId, count: Number(count), atMs: Number(atMs) };
}
