import { createBackoff } from "../../../client/core/backoff.ts";
import { follow } from "../../../client/core/follow.ts";
import { pause } from "../../../client/core/pause.ts";
import { isRefusal } from "../../../client/core/refusals.ts";
import type { FeedLine } from "../../../protocol/feed.ts";
import { isFeedLine } from "../../../protocol/fits.ts";
import type { ThreadAccess, VisitorSession } from "../../service/visitor-session.ts";
import { busySeconds, refusedStatus } from "../../service/widget-api.ts";
import type { WidgetApi } from "../../service/widget-api.ts";

/** Waits before the feed is reopened; the last one repeats. A feed that sent a line starts over with the first. */
const WAITS_MS = [500, 1_000, 2_000, 5_000, 10_000, 20_000];
/** Wait after the service did not know the thread, or has no feeds. */
const REFUSED_SECONDS = 60;
/** How often the clock is checked; if much more time has passed, the machine has slept. */
const LOOK_MS = 5_000;
const SLEPT_MS = 15_000;

export interface FeedOptions {
  api: WidgetApi;
  visitor: Pick<VisitorSession, "access" | "threadId">;
  /** The id of the last item shown of this thread; null: the feed is not wanted (yet). */
  after: (this: void, threadId: string) => string | null;
  /** Takes one line at a time: the next one comes when this has resolved. */
  take: (this: void, line: FeedLine, thread: ThreadAccess) => Promise<void>;
  onRefused: (this: void) => Promise<void>;
}

/** The attempts to read a thread's feed, one after the other. */
interface OpenFeed {
  threadId: string;
  over: AbortController;
  /** Ends the current attempt or wait; the next attempt begins at once. */
  again(): void;
}

/**
 * The feed of the thread that is shown, open for as long as it is wanted. It is reopened from the last item that this
 * page has, so it does not matter how often it breaks off.
 */
export class ThreadFeed {
  /** The feed has sent a line. */
  isLive = false;
  readonly #options: FeedOptions;
  #feed: OpenFeed | null = null;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Opens or ends the feed, if what is wanted has changed. */
  check(): void {
    const { visitor, after } = this.#options;
    const { threadId } = visitor;
    const wanted = threadId !== null && after(threadId) !== null ? threadId : null;
    if (wanted === (this.#feed?.threadId ?? null)) return;
    this.#feed?.over.abort();
    this.#feed = wanted === null ? null : { threadId: wanted, over: new AbortController(), again() {} };
    this.isLive = false;
    if (this.#feed !== null) void this.#keep(this.#feed);
  }

  /** Reopens the feed: after a pause of the page, network or machine the connection may be dead unnoticed. */
  renew(): void {
    this.#feed?.again();
  }

  async #keep(feed: OpenFeed): Promise<void> {
    const { api, visitor, after, take, onRefused } = this.#options;
    const { threadId, over } = feed;
    const { signal } = over;
    const waits = createBackoff(WAITS_MS);
    /** Of the current connection or wait. */
    let attempt = new AbortController();
    let isDue = false;
    let thread = visitor.access;
    feed.again = () => {
      isDue = true;
      attempt.abort();
    };
    signal.addEventListener("abort", () => feed.again());

    const lines = follow({
      open: async () => {
        isDue = false;
        attempt = new AbortController();
        const id = after(threadId);
        thread = visitor.access;
        if (id === null || thread?.threadId !== threadId) throw new Error("Another thread is shown");
        const path = `/threads/${encodeURIComponent(threadId)}/events?after=${encodeURIComponent(id)}`;
        const { visitorToken } = thread;
        return (await api({ path, method: "GET", visitorToken, signal: attempt.signal })).body;
      },
      comeBack: async (fault) => {
        if (this.#feed === feed) this.isLive = false;
        const isRefused = isRefusal(refusedStatus(fault));
        if (isRefused && !signal.aborted) await onRefused();
        const ms = waits.next(1_000 * (isRefused ? REFUSED_SECONDS : busySeconds(fault)));
        if (!isDue) {
          attempt = new AbortController();
          await pause(ms ?? 0, attempt.signal);
        }
        signal.throwIfAborted();
      },
    });

    let lookedMs = Date.now();
    const timer = setInterval(() => {
      const now = Date.now();
      if (now - lookedMs > SLEPT_MS) feed.again();
      lookedMs = now;
      // It may be wanted only for a limited time.
      this.check();
    }, LOOK_MS);
    try {
      for await (const value of lines) {
        // A late line is of a thread that is no longer shown.
        if (thread === null || visitor.threadId !== threadId) break;
        if (attempt.signal.aborted) continue;
        this.isLive = true;
        waits.reset();
        // What could not be taken comes again over the next connection.
        if (isFeedLine(value)) await take(value, thread).catch(() => attempt.abort());
      }
      this.check();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(timer);
    }
  }
}
