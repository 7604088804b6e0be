import { pause } from "../../clock.ts";
import type { InstanceMessage } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { OnReadable } from "../on-readable.ts";
import { createFeed } from "./feed.ts";
import type { Feed } from "./feed.ts";
import { beginningOf } from "./feed-lines.ts";
import { lookWithImages } from "./look-with-images.ts";
import { createWatch } from "./watch.ts";
import type { Watch } from "./watch.ts";

/**
 * The feeds of threads that are open here (contract, The feed of a thread), wherever the threads are changed.
 *
 * Whoever commits to a thread is told by the store which processes watch it, and sends each a word. The word says
 * nothing but that something happened: what, a look into the store tells, one for all feeds of the thread. So a word may
 * be lost, late or come twice.
 */
export interface Feeds {
  /** `after`: the last item that its reader knows; "" none; null: only what is new. Rejects as the store does. */
  open(uid: string, after: string | null): Promise<Feed>;
  /** A commit was made here. `watchers`: the processes that watch the thread. */
  committed(uid: string, watchers?: readonly string[]): void;
  /** A person writes in the thread: tells everybody who watches it. */
  typing(uid: string, name: string): Promise<void>;
  /** Another instance's word of a commit, or of a person who writes; false where the message is none. */
  receive(message: InstanceMessage): boolean;
  /** How many are open. */
  size(): number;
  /** Ends them all, and opens no more. */
  stop(): void;
}

const TICK_MS = 500;
/** After a new connection to the store, within this time: words were lost with the old one. */
const RECONNECT_MS = 2_000;

export function createFeeds(
  { store, clock, timers, log, random = Math.random }: ThreadDependencies,
  onReadable: OnReadable,
): Feeds {
  const watches = new Map<string, Watch>();
  /** How many are being opened, by thread: their watch stays. */
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
