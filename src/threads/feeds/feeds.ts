import { pause } from "../../clock.ts";
import type { InstanceMessage } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { OnReadable } from "../recover/on-readable.ts";
import { createFeed } from "./feed.ts";
import type { Feed } from "./feed.ts";
import { beginningOf } from "./feed-lines.ts";
import { lookWithImages } from "./look-with-images.ts";
import { createWatch } from "./watch.ts";
import type { Watch } from "./watch.ts";

/**
 * The feeds that are open in this process (contract, The feed of a thread), whichever instance changes the threads.
 *
 * The answer to each commit names the processes that watch the thread, and the committer notifies each of them. The notice
 * says only that something changed; one read of the store, for all feeds of the thread, tells what. So a notice may be
 * lost, late or doubled.
 */
export interface Feeds {
  /** `after`: the last item that the reader knows; "": none; null: only new items. Rejects if the store does. */
  open(uid: string, after: string | null): Promise<Feed>;
  /** A commit was made here. `watchers`: the processes that watch the thread. */
  committed(uid: string, watchers?: readonly string[]): void;
  /** A person is typing in the thread: notifies every process that watches it. */
  typing(uid: string, name: string): Promise<void>;
  /** Another instance's notice of a commit, or that a person is typing; false if the message is something else. */
  receive(message: InstanceMessage): boolean;
  /** How many feeds are open. */
  size(): number;
  /** Ends all feeds, and opens no more. */
  stop(): void;
}

const TICK_MS = 500;
/** Watches look again within this time after a new connection to the store: the old one may have lost notices. */
const RECONNECT_MS = 2_000;

export function createFeeds(
  { store, clock, timers, log, random = Math.random }: ThreadDependencies,
  onReadable: OnReadable,
): Feeds {
  const watches = new Map<string, Watch>();
  /** How many feeds are being opened, by thread: their watch must stay. */
  const opening = new Map<string, number>();
  let isTicking = false;
  let isStopped = false;

  function watchOf(uid: string): Watch {
    const known = watches.get(uid);
    if (known) return known;
    const watch = createWatch({
      thread: {
        look: (position) => onReadable(uid, () => lookWithImages(store, uid, position)),
        lastOp: () => store.lastOp(uid),
        ask: () => store.watch(uid),
      },
      clock,
      random,
      onLeft: () => dropUnread(uid),
      onFault: (error) => log.warn({ uid, err: error }, "cannot look after the feeds of a thread"),
    });
    watches.set(uid, watch);
    if (!isTicking) void tickWhileWatching();
    return watch;
  }

  function dropUnread(uid: string): void {
    if (!opening.has(uid) && watches.get(uid)?.feeds.size === 0) watches.delete(uid);
  }

  async function tickWhileWatching(): Promise<void> {
    isTicking = true;
    while (watches.size > 0 && !isStopped) {
      await pause(timers, TICK_MS);
      const now = clock.elapsed();
      for (const watch of watches.values()) watch.tick(now);
    }
    isTicking = false;
  }

  function ring(uid: string): void {
    // It looks again by itself where the store does not answer.
    watches
      .get(uid)
      ?.renew()
      .catch(() => {});
  }

  store.onReconnect(() => {
    for (const [uid, watch] of watches) {
      watch.askAnew();
      timers.after(RECONNECT_MS * random(), () => ring(uid));
    }
  });

  return {
    async open(uid, after) {
      opening.set(uid, (opening.get(uid) ?? 0) + 1);
      try {
        const watch = watchOf(uid);
        await watch.renew();
        const { position, state } = watch.latest();
        const beginning = beginningOf(after, { messageCount: position, state });
        const feed = createFeed(watch, beginning, clock);
        watch.add(feed);
        if (isStopped) feed.end();
        return feed;
      } finally {
        const left = (opening.get(uid) ?? 1) - 1;
        if (left > 0) opening.set(uid, left);
        else opening.delete(uid);
        dropUnread(uid);
      }
    },

    committed(uid, watchers = []) {
      ring(uid);
      for (const processId of watchers) {
        if (processId !== store.processId) store.send(processId, { type: "changed", uid });
      }
    },

    async typing(uid, name) {
      watches.get(uid)?.typing(name);
      for (const processId of await store.watchers(uid)) {
        if (processId !== store.processId) store.send(processId, { type: "typing", uid, name });
      }
    },

    receive({ type, uid, name }) {
      if (typeof uid !== "string") return false;
      if (type === "typing" && typeof name === "string") watches.get(uid)?.typing(name);
      else if (type === "changed") ring(uid);
      else return false;
      return true;
    },

    size: () => [...watches.values()].reduce((sum, { feeds }) => sum + feeds.size, 0),

    stop() {
      isStopped = true;
      for (const { feeds } of watches.values()) for (const feed of feeds) feed.end();
    },
  };
}
