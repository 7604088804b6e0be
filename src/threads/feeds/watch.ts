import type { ThreadLook } from "../../store.ts";
import type { FeedLine, Told } from "./feed-lines.ts";
import { newsOf, stateOf } from "./feed-lines.ts";
import type { FeedSource, News, WatchedFeed } from "./feed.ts";

/**
 * Watches a thread for its feeds: after each notice, one read of the store (a look) serves all of them. Without a notice,
 * the store is asked every few seconds whether the last commit is still the one that the last look saw; only if not, a
 * look follows. A look finds everything that is new, so it does not matter which notices were lost.
 */
export interface Watch extends FeedSource {
  readonly feeds: ReadonlySet<WatchedFeed>;
  add(feed: WatchedFeed): void;
  /** Resolves after a look that began after this call. Rejects if the store does not answer. */
  renew(): Promise<void>;
  /** Notices, and perhaps the registration for them, were lost: the next look registers again. */
  askAnew(): void;
  tick(nowMs: number): void;
  /** A person is typing: sent at once, and not repeated to feeds that open later. */
  typing(name: string): void;
}

/** What a watch needs from the store. */
export interface WatchedThread {
  look(position: number | null): Promise<ThreadLook>;
  /** The id of the last commit. */
  lastOp(): Promise<string | null>;
  /** Registers for notices of commits, for a while. */
  ask(): Promise<void>;
}

export interface WatchOptions {
  thread: WatchedThread;
  clock: { elapsed(): number };
  /** From 0 to 1: spreads the looks of threads whose watches began together. */
  random: () => number;
  /** Called when the last feed has left. */
  onLeft: () => void;
  onFault: (error: unknown) => void;
}

/** How often the last commit is polled without a notice: a lost notice delays news by this much at most. */
const CHECK_EVERY_MS = 10_000;
/** Half of the time for which a registration lasts (store/threads.ts, WATCH_MS); after a failure it is retried each second. */
const ASK_EVERY_MS = 60_000;
const RETRY_MS = 1_000;
/** How many news are kept for feeds whose readers are a moment behind. */
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

  /** Also postpones the next check, because asking or looking is one. */
  async function askInTime(): Promise<void> {
    const now = clock.elapsed();
    nextCheckAtMs = now + CHECK_EVERY_MS * (0.9 + 0.2 * random());
    if (now - askedAtMs <= ASK_EVERY_MS) return;
    await thread.ask();
    askedAtMs = now;
  }

  /** Looks if there is a newer commit. No commit is missed, because a look returns the id of the one it has seen. */
  async function check(): Promise<void> {
    await askInTime();
    if (known === null || (await thread.lastOp()) !== seenOp) await renew();
  }

  let lastCount = 0;
  let isDeleted = false;

  function adopt(seen: ThreadLook): void {
    if (seen.isDeleted) return endAll(seen);
    lastCount = seen.messageCount;
    // A look that ends before the last item: the rest is still to come.
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
    // News with images are not kept: a feed that is behind reads them from the store again.
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

  /** A failover has undone some of what was sent: the readers must read the history again. */
  function goBack(seen: ThreadLook): void {
    const state = stateOf(seen);
    known = { position: seen.messageCount, state };
    recent = [];
    const lines: FeedLine[] = [{ type: "reset" }, { type: "state", ...state }];
    for (const feed of feeds) feed.reset(lines, known);
  }

  /** One look at a time; callers that come during one wait for the next. */
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
