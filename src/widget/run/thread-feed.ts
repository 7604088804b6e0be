import { readJsonLines } from "../../client/core/json-lines.ts";
import { isRefusal } from "../../client/core/refusals.ts";
import { SILENCE_MS } from "../../client/core/silence.ts";
import { spread } from "../../client/core/spread.ts";
import type { FeedLine } from "../../protocol/feed.ts";
import { isFeedLine } from "../../protocol/fits.ts";
import type { ThreadAccess, VisitorSession } from "../service/visitor-session.ts";
import { busySeconds, refusedStatus } from "../service/widget-api.ts";
import type { WidgetApi } from "../service/widget-api.ts";

/** Waits before the feed is reopened; the last one repeats. A feed that sent a line starts over with the first. */
const WAITS_SECONDS = [0.5, 1, 2, 5, 10, 20];
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
    const { signal } = feed.over;
    for (let failures = 0; !signal.aborted;) {
      const attempt = new AbortController();
      feed.again = () => attempt.abort();
      const stop = () => attempt.abort();
      signal.addEventListener("abort", stop);
      let seconds = WAITS_SECONDS[Math.min(failures, WAITS_SECONDS.length - 1)] ?? 0;
      failures += 1;
      try {
        await this.#read(feed.threadId, attempt, () => (failures = 0));
      } catch (error) {
        const status = refusedStatus(error);
        if (isRefusal(status)) {
          seconds = REFUSED_SECONDS;
          if (!signal.aborted) await this.#options.onRefused();
        }
        seconds = Math.max(seconds, busySeconds(error));
      }
      signal.removeEventListener("abort", stop);
      if (this.#feed === feed) this.isLive = false;
      if (!attempt.signal.aborted) await this.#wait(feed, spread(1_000 * seconds));
    }
  }

  /** Reads the feed to its end; silence ends it too. */
  async #read(threadId: string, attempt: AbortController, onLine: () => void): Promise<void> {
    const { api, visitor, after, take } = this.#options;
    const { signal } = attempt;
    const id = after(threadId);
    const thread = visitor.access;
    if (id === null || thread?.threadId !== threadId) return;
    const path = `/threads/${encodeURIComponent(threadId)}/events?after=${encodeURIComponent(id)}`;
    const { visitorToken } = thread;
    let [heardMs, lookedMs] = [Date.now(), Date.now()];
    const timer = setInterval(() => {
      const now = Date.now();
      if (now - heardMs > SILENCE_MS || now - lookedMs > SLEPT_MS) attempt.abort();
      lookedMs = now;
      // It may be wanted only for a limited time.
      this.check();
    }, LOOK_MS);
    try {
      const { body } = await api({ path, method: "GET", visitorToken, signal });
      if (body === null) return;
      for await (const value of readJsonLines(body.getReader())) {
        heardMs = Date.now();
        // A late line is of a thread that is no longer shown.
        if (signal.aborted || visitor.threadId !== threadId) return;
        this.isLive = true;
        onLine();
        if (isFeedLine(value)) await take(value, thread);
      }
    } finally {
      clearInterval(timer);
    }
  }

  #wait(feed: OpenFeed, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      const now = () => (clearTimeout(timer), resolve());
      feed.again = now;
      feed.over.signal.addEventListener("abort", now, { once: true });
    });
  }
}
