import type { ThreadLook } from "../../store.ts";
import { isSameState, newsOf } from "./feed-lines.ts";
import type { FeedLine, Told } from "./feed-lines.ts";

/** A reader's end of a feed. */
export interface FeedReader {
  /** All readers of a thread get the same array of lines, so that it can be encoded once. */
  write(lines: readonly FeedLine[]): void;
  /** Calls back when the reader has taken what was written. */
  onDrained(callback: () => void): void;
  /** The feed ends here. */
  end(): void;
}

/** One open feed, as HTTP uses it. */
export interface Feed {
  /** Sets the one reader, which gets the first lines at once. */
  read(reader: FeedReader): void;
  /** Ends it, and tells the reader. */
  end(): void;
  /** The reader is gone. */
  leave(): void;
}

/** What happened in a thread between two looks. */
export interface News {
  from: Told;
  lines: readonly FeedLine[];
  to: Told;
}

/** A feed as the watch of its thread sees it. */
export interface WatchedFeed extends Feed {
  /** Sends news. */
  hear(news: News): void;
  /** Sends lines that are not news; dropped if the reader is behind. */
  tell(lines: readonly FeedLine[]): void;
  /** The store has lost some of what was sent. */
  reset(lines: readonly FeedLine[], told: Told): void;
  /** The thread was deleted: tells so, and ends. */
  endDeleted(): void;
  /** Continues if the reader is behind; sends a sign of life if nothing was written for long. */
  tick(nowMs: number): void;
  /** True if the reader has not been sent, or has not taken, everything. */
  readonly isBehind: boolean;
}

/** Contract, The feed of a thread: at least every 20 s. */
const PING_EVERY_MS = 15_000;
const DELETED: readonly FeedLine[] = [{ type: "deleted" }];
const PING: readonly FeedLine[] = [{ type: "ping" }];

/** What a feed needs from the watch of its thread. */
export interface FeedSource {
  /** The position of the feeds that are not behind. */
  latest(): Told;
  /** The lines that follow this position, if they are still in memory. */
  recent(from: Told): News | null;
  look(position: number): Promise<ThreadLook>;
  leave(feed: WatchedFeed): void;
}

/**
 * A position in a thread's history, and a reader that takes lines as fast as it can.
 *
 * A reader that has taken everything gets news as it happens. For one that has not, the feed keeps a position instead of
 * lines, and continues from the store when the reader has caught up. So a slow reader costs no more memory than a page.
 */
export function createFeed(
  source: FeedSource,
  beginning: { told: Told; lines: readonly FeedLine[] },
  clock: { elapsed(): number },
): WatchedFeed {
  const liveFrom = source.latest().position;
  let { told } = beginning;
  let reader: FeedReader | null = null;
  let isDrained = false;
  let isCatchingUp = false;
  let isOver = false;
  let wasDeleted = false;
  let wroteAtMs = clock.elapsed();

  function write(lines: readonly FeedLine[]): void {
    if (lines.length === 0 || !reader || isOver) return;
    wroteAtMs = clock.elapsed();
    isDrained = false;
    reader.write(lines);
    reader.onDrained(drained);
  }

  function drained(): void {
    isDrained = true;
    void catchUp();
  }

  function isUpToDate(): boolean {
    return isSame(told, source.latest());
  }

  async function catchUp(): Promise<void> {
    if (isCatchingUp || isOver || !isDrained || isUpToDate()) return;
    const recent = source.recent(told);
    if (recent) return go(recent.to, recent.lines);
    isCatchingUp = true;
    try {
      const look = await source.look(told.position);
      if (isOver) return;
      // The store has lost writes: the watch handles that.
      if (look.messageCount < told.position) return;
      const news = newsOf(told, look, liveFrom);
      go(news.told, news.lines);
    } catch {
      // The next tick tries again; the watch logs the outage.
    } finally {
      isCatchingUp = false;
    }
    // Nothing was written: nobody will call back.
    if (isDrained) await catchUpOnce();
  }

  /** Repeats if something came meanwhile; if the store has nothing newer, it is asked at the next tick. */
  async function catchUpOnce(): Promise<void> {
    const recent = isUpToDate() ? null : source.recent(told);
    if (recent) go(recent.to, recent.lines);
  }

  function go(to: Told, lines: readonly FeedLine[]): void {
    told = to;
    write(lines);
  }

  const feed: WatchedFeed = {
    get isBehind() {
      return !isDrained || !isUpToDate();
    },

    read(given) {
      // The service stops, or the reader may not read it any more.
      if (wasDeleted) given.write(DELETED);
      if (isOver) return given.end();
      reader = given;
      write(beginning.lines);
    },

    hear(news) {
      if (isOver) return;
      if (isDrained && !isCatchingUp && isSame(told, news.from)) return go(news.to, news.lines);
      void catchUp();
    },

    tell(lines) {
      if (isDrained && !isCatchingUp) write(lines);
    },

    reset(lines, to) {
      go(to, lines);
    },

    tick(nowMs) {
      if (!isDrained || isOver) return;
      void catchUp();
      if (isDrained && nowMs - wroteAtMs >= PING_EVERY_MS) write(PING);
    },

    endDeleted() {
      write(DELETED);
      wasDeleted = true;
      feed.end();
    },

    end() {
      if (isOver) return;
      feed.leave();
      reader?.end();
    },

    leave() {
      if (isOver) return;
      isOver = true;
      source.leave(feed);
    },
  };
  return feed;
}

function isSame(one: Told, other: Told): boolean {
  return one.position === other.position && isSameState(one.state, other.state);
}
