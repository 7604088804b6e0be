import type { Feed } from "../../threads/feeds/feed.ts";
import type { Directory } from "../../admission/directory.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { Refusal } from "../../domain/refusal.ts";
import { readVisitorToken } from "../../domain/people/visitor-token.ts";
import type { PlainLog } from "../../log.ts";
import type { Store } from "../../store.ts";
import { createFewOpen } from "./few-open.ts";

/**
 * The visitors' feeds that are open in this process: only a few per token, and none whose visitor may no longer read
 * it. Each is checked again when the store reports a change of channels, addresses, blocked users or revoked tokens;
 * every few minutes, which keeps its token alive; and when the token reaches its maximum age, since nothing reports
 * that. The feeds of a token that was rotated, on any instance, end.
 */
export interface VisitorFeeds {
  /**
   * Watches a feed. `mayRead` counts as a use of the token, and throws a Refusal if the visitor may not read.
   * `endsAtMs`: when the token ends even if it is used. Returns a function to call when the feed is over.
   */
  add(opened: {
    token: string;
    endsAtMs: number | null;
    feed: Feed;
    mayRead: () => Promise<unknown>;
  }): () => void;
}

/** One more feed ends the oldest. */
const MOST_FOR_A_TOKEN = 5;
const ASK_EVERY_MS = 300_000;
const LOOK_EVERY_MS = 500;
const AT_ONCE = 100;

interface OpenFeed {
  endsAtMs: number | null;
  feed: Feed;
  mayRead: () => Promise<unknown>;
  askAtMs: number;
}

export function createVisitorFeeds({
  store,
  directory,
  config,
  clock,
  log,
}: {
  store: Pick<Store, "onChange" | "onTokenRotated">;
  directory: Pick<Directory, "renew">;
  config: Pick<Config, "visitorTtlMs">;
  clock: Pick<Clock, "now" | "elapsed">;
  log: Pick<PlainLog, "warn">;
}): VisitorFeeds {
  /** By the token's hash. */
  const byToken = new Map<string, Set<OpenFeed>>();
  const few = createFewOpen(MOST_FOR_A_TOKEN);
  /** At least twice in a token's lifetime. */
  const askEveryMs = Math.min(ASK_EVERY_MS, config.visitorTtlMs / 2);
  let stopWatching = () => {};

  function all(): OpenFeed[] {
    return [...byToken.values()].flatMap((feeds) => [...feeds]);
  }

  function watch(): void {
    const unsubscribe = store.onChange(() => void askAll());
    const forgetRotations = store.onTokenRotated(endAll);
    const timer = setInterval(() => void askDue(), LOOK_EVERY_MS).unref();
    stopWatching = () => {
      unsubscribe();
      forgetRotations();
      clearInterval(timer);
    };
  }

  function endAll(tokenHash: string): void {
    for (const { feed } of byToken.get(tokenHash) ?? []) feed.end();
  }

  async function askAll(): Promise<void> {
    try {
      // The checks read from memory, which must be at least as new as the notice.
      await directory.renew();
    } catch (error) {
      log.warn({ err: error }, "cannot renew the channels for the open feeds: they are asked again");
    }
    const now = clock.elapsed();
    for (const open of all()) open.askAtMs = now;
    await askDue();
  }

  let asking: Promise<void> | null = null;

  async function askDue(): Promise<void> {
    asking ??= askAllDue().finally(() => (asking = null));
    await asking;
  }

  async function askAllDue(): Promise<void> {
    const due = () => all().filter(({ askAtMs }) => askAtMs <= clock.elapsed());
    for (let some = due().slice(0, AT_ONCE); some.length > 0; some = due().slice(0, AT_ONCE)) {
      await Promise.all(some.map(ask));
    }
  }

  async function ask(open: OpenFeed): Promise<void> {
    open.askAtMs = nextAskAtMs(open.endsAtMs);
    try {
      await open.mayRead();
    } catch (error) {
      const isRefused = error instanceof Refusal && error.reason !== "unavailable";
      if (isRefused) return open.feed.end();
      // The store is out: the feed stays open until the store answers.
      open.askAtMs = clock.elapsed() + LOOK_EVERY_MS;
    }
  }

  /** A token that should have ended by this clock is checked again and again until it has. */
  function nextAskAtMs(endsAtMs: number | null): number {
    const leftMs = endsAtMs === null ? Infinity : Math.max(endsAtMs - clock.now(), LOOK_EVERY_MS / 2);
    return clock.elapsed() + Math.min(askEveryMs, leftMs);
  }

  return {
    add({ token, endsAtMs, feed, mayRead }) {
      const tokenHash = readVisitorToken(token)?.tokenHash ?? "";
      if (byToken.size === 0) watch();
      const feeds = byToken.get(tokenHash) ?? new Set();
      byToken.set(tokenHash, feeds);
      const open: OpenFeed = { endsAtMs, feed, mayRead, askAtMs: nextAskAtMs(endsAtMs) };
      feeds.add(open);
      const isOver = few.add(tokenHash, () => {
        // It is not over before its reader is told, and is not asked about until then.
        feeds.delete(open);
        feed.end();
      });
      return () => {
        isOver();
        feeds.delete(open);
        if (feeds.size > 0 || byToken.get(tokenHash) !== feeds) return;
        byToken.delete(tokenHash);
        if (byToken.size === 0) stopWatching();
      };
    },
  };
}
