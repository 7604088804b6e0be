import type { ThreadLook } from "../../store.ts";
import type { FeedLine, Told } from "./feed-lines.ts";
import { newsOf, stateOf } from "./feed-lines.ts";
import type { FeedSource, News, WatchedFeed } from "./feed.ts";

/**
 * A thread that is watched for its feeds: one look for all of them after each word that something happened. Without a word
 * the store is asked every few seconds whether the last commit is still the one that was looked at; only where it is not, a
 * look follows. What a look finds is told from the store, so it does not matter which word was lost.
 */
export interface Watch extends FeedSource {
  readonly feeds: ReadonlySet<WatchedFeed>;
  add(feed: WatchedFeed): void;
  /** Resolves after a look that began after this call. Rejects where the store does not answer. */
  renew(): Promise<void>;
  /** Words were lost, and perhaps that they are wanted: the next look asks for them again. */
  askAnew(): void;
  tick(nowMs: number): void;
  /** A person writes: told at once, and not again to who comes later. */
  typing(name: string): void;
}

/** What a watch asks of the store. */
export interface WatchedThread {
  look(position: number | null): Promise<ThreadLook>;
  /** The last commit. */
  lastOp(): Promise<string | null>;
  /** Asks to be told of commits, for a while. */
  ask(): Promise<void>;
}

export interface WatchOptions {
  thread: WatchedThread;
  clock: { elapsed(): number };
  /** From 0 to 1: threads that began to be watched together are not looked at together. */
  random: () => number;
  /** The last feed is gone. */
  onLeft: () => void;
  onFault: (error: unknown) => void;
}

/** How often a thread's last commit is asked for without a word of it: so long does a lost word delay what it was of. */
const CHECK_EVERY_MS = 10_000;
/** Half of the time for which it is granted (store/threads.ts, WATCH_MS): after a failure it is tried again each second. */
const ASK_EVERY_MS = 60_000;
const RETRY_MS = 1_000;
/** News kept for feeds whose readers are a moment behind. */
const MOST_RECENT = 8;

export function createWatch({ thread, clock, random, onLeft, onFault }: WatchOptions): Watch {
  const feeds = new Set<WatchedFeed>();
  let known: Told | null = null;
  let recent: News[] = [];
  let looking: Promise<void> | null = null;
  let again: Promise<void> | null = null;
  let askedAtMs = -Infinity;
  let nextCheckAtMs = 0;
  /** The last commit that a look has seen. */
  let seenOp: string | null = null;
  let isChecking = false;

  async function look(): Promise<void> {
    await askInTime();
    do adopt(await thread.look(known?.position ?? null));
    while (known && known.position < lastCount);
  }

  /** Also says when the next check is due: whoever asks or looks now has checked. */
  async function askInTime(): Promise<void> {
    const now = clock.elapsed();
    nextCheckAtMs = now + CHECK_EVERY_MS * (0.9 + 0.2 * random());
    if (now - askedAtMs <= ASK_EVERY_MS) return;
    await thread.ask();
    askedAtMs = now;
  }

  /** A look where the last commit is another one. Not one commit is missed: a look tells which it has seen. */
  async function check(): Promise<void> {
    await askInTime();
    if (known === null || (await thread.lastOp()) !== seenOp) await renew();
  }

  let lastCount = 0;
  let isDeleted = false;

  function adopt(seen: ThreadLook): void {
    if (seen.isDeleted) return endAll(seen);
    lastCount = seen.messageCount;
    // Of a look that ends before the last item, the rest is still to come.
    seenOp = seen.to < seen.messageCount ? null : seen.lastOp;
    if (!known) {
      known = { position: seen.messageCount, state: stateOf(seen) };
      return;
    }
    if (seen.messageCount < known.position) return goBack(seen);
    const { told, lines } = newsOf(known, seen, known.position);
    const news = { from: known, lines, to: told };
    known = told;
    if (lines.length === 0) return;
    // Who is behind images reads them from the store again: they are not kept for the slowest reader.
    recent = hasImages(lines) ? [] : [...recent.slice(1 - MOST_RECENT), news];
    for (const feed of feeds) feed.hear(news);
  }

  function endAll({ messageCount, lastOp }: ThreadLook): void {
    lastCount = messageCount;
    seenOp = lastOp;
    known = { position: messageCount, state: { state: "idle" } };
    recent = [];
    isDeleted = true;
    for (const feed of feeds) feed.endDeleted();
  }

  /** A failover took back what was told: whoever reads along reads the history again. */
  function goBack(seen: ThreadLook): void {
    const state = stateOf(seen);
    known = { position: seen.messageCount, state };
    recent = [];
    const lines: FeedLine[] = [{ type: "reset" }, { type: "state", ...state }];
    for (const feed of feeds) feed.reset(lines, known);
  }

  /** One at a time; whoever comes during one waits for the next. */
  function renew(): Promise<void> {
    if (!looking) {
      looking = look().finally(() => (looking = null));
      return looking;
    }
    again ??= looking
      .catch(() => {})
      .then(() => {
        again = null;
        return renew();
      });
    return again;
  }

  const watch: Watch = {
    feeds,

    latest: () => known ?? { position: 0, state: { state: "idle" } },

    recent: (from) =>
      recent.find(
        (news) =>
          news.from.position === from.position &&
          JSON.stringify(news.from.state) === JSON.stringify(from.state),
      ) ?? null,

    look: (position) => thread.look(position),

    add(feed) {
      feeds.add(feed);
      if (isDeleted) feed.endDeleted();
    },

    leave(feed) {
      feeds.delete(feed);
      if (feeds.size === 0) onLeft();
    },

    renew,

    askAnew() {
      askedAtMs = -Infinity;
    },

    typing(name) {
      const lines: FeedLine[] = [{ type: "typing", name }];
      for (const feed of feeds) feed.tell(lines);
    },

    tick(nowMs) {
      if (nowMs >= nextCheckAtMs && !isChecking) {
        isChecking = true;
        check()
          .catch((error: unknown) => {
            nextCheckAtMs = clock.elapsed() + RETRY_MS;
            onFault(error);
          })
          .finally(() => (isChecking = false));
      }
      let isOneBehind = false;
      for (const feed of feeds) {
        feed.tick(nowMs);
        isOneBehind ||= feed.isBehind;
      }
      if (!isOneBehind) recent = [];
    },
  };
  return watch;
}

function hasImages(lines: readonly FeedLine[]): boolean {
  return lines.some(
    (line) => line.type === "message" && line.message.attachments?.some(({ chars }) => chars),
  );
}
