import type { Clock } from "../../clock.ts";
import { messageOf } from "../../errors.ts";
import type { PlainLog } from "../../log.ts";
import type { ChannelThread, Store, ThreadChange } from "../../store.ts";
import { approvalView, readThread } from "./answerer.ts";
import { readHeadline } from "./headline.ts";
import type { Headline } from "./headline.ts";

/**
 * The changes of the channels' threads, on any instance, from the store's orders: these are read about once a second
 * while there are readers, and nothing is written for it. A change is sent as its thread is at that time.
 *
 * An order is not written in the same step as a commit: a thread may be read too early, so it is read again for a
 * while; and it may be listed late, so each read goes back a minute.
 */
export interface ThreadChanges {
  /** Reads until `stop`. Resolves when what was there before is known: what comes later is told. */
  start(): Promise<void>;
  stop(): void;
  /** Something changed here: it is read soon. */
  poke(): void;
  /** How many changes were told. */
  count(): number;
  /** Those behind the first `count`; null: they are not known any more. */
  since(count: number): ToldChange[] | null;
  /** What changed since a time, as the store tells it; null: too much, or too long ago. */
  changedSince(slugs: readonly string[], sinceMs: number): Promise<ToldChange[] | null>;
  onTold(callback: (changes: readonly ToldChange[]) => void): () => void;
}

export interface ToldChange {
  /** Its place among all that were told here; 0: out of the store. */
  nth: number;
  slug: string;
  atMs: number;
  thread: ChannelThread;
  /** Its readers are operators who may read texts. */
  headline: Headline;
}

const READ_EVERY_MS = 1_000;
/** Where many channels are read, each of them waits for this long for the next one. */
const PER_CHANNEL_MS = 20;
const POKED_MS = 100;
const BACK_MS = 60_000;
const LOOK_AGAIN_MS = 5_000;
/** Changes of a channel per read. */
const MOST_READ = 1_000;
/** Sent changes that are kept for readers who come back. */
const MOST_KEPT = 1_000;
/** Readers who were away for longer read the list. */
const REPLAYED_MS = 3_600_000;
const CHANNELS_AT_ONCE = 10;

/** A thread as it was sent. */
interface Known {
  atMs: number;
  seenAtMs: number;
  state: string | null;
  updatedAtMs: number;
  approval: string | undefined;
  headline: string;
}

export function createThreadChanges({
  store,
  slugs,
  clock,
  log,
}: {
  store: Pick<Store, "changedThreads" | "channelThread" | "load" | "history" | "desk" | "findUser">;
  /** Of all channels. */
  slugs: () => readonly string[];
  clock: Pick<Clock, "now">;
  log: Pick<PlainLog, "warn">;
}): ThreadChanges {
  const known = new Map<string, Known>();
  const callbacks = new Set<(changes: readonly ToldChange[]) => void>();
  let kept: ToldChange[] = [];
  let told = 0;
  let readAtMs: number | null = null;
  let isOn = false;
  let isAway = false;
  let timer: NodeJS.Timeout | null = null;
  let reading: Promise<void> | null = null;

  function readNow(): Promise<void> {
    reading ??= read().finally(() => (reading = null));
    return reading;
  }

  async function read(): Promise<void> {
    const nowMs = clock.now();
    // What is known is too old to go on from: everything up to now was there before.
    if (readAtMs !== null && nowMs - readAtMs > REPLAYED_MS) forget();
    const isFirst = readAtMs === null;
    const sinceMs = (readAtMs ?? nowMs) - BACK_MS;
    const changes: ToldChange[] = [];
    for (const some of chunksOf(slugs(), CHANNELS_AT_ONCE)) {
      const read = await Promise.all(some.map((slug) => changesOf(slug, { sinceMs, nowMs, isFirst })));
      changes.push(...read.flat());
    }
    readAtMs = nowMs;
    for (const [key, { atMs, seenAtMs }] of known) {
      if (atMs < sinceMs && seenAtMs < sinceMs) known.delete(key);
    }
    tell(changes.sort((a, b) => a.atMs - b.atMs));
  }

  function forget(): void {
    known.clear();
    kept = [];
    readAtMs = null;
  }

  async function changesOf(
    slug: string,
    when: { sinceMs: number; nowMs: number; isFirst: boolean },
  ): Promise<ToldChange[]> {
    const found = await store.changedThreads(slug, { sinceMs: when.sinceMs, limit: MOST_READ });
    const looked = await Promise.all(found.map((change) => lookAt(slug, change, when)));
    return looked.flat();
  }

  /** Nothing, if the thread is as it was sent. */
  async function lookAt(
    slug: string,
    { uid, atMs }: ThreadChange,
    { nowMs, isFirst }: { nowMs: number; isFirst: boolean },
  ): Promise<ToldChange[]> {
    const key = `${slug} ${uid}`;
    const before = known.get(key);
    const isNew = before === undefined || atMs > before.atMs;
    if (isFirst && atMs < nowMs - LOOK_AGAIN_MS) {
      known.set(key, {
        atMs,
        seenAtMs: 0,
        state: null,
        updatedAtMs: 0,
        approval: undefined,
        headline: "",
      });
      return [];
    }
    if (!isNew && nowMs - before.seenAtMs > LOOK_AGAIN_MS) return [];
    const thread = await store.channelThread(slug, uid);
    const { state = null, updatedAtMs = 0 } = thread ?? {};
    const { approval } = approvalView(readThread(thread?.snapshot));
    const hasMoved =
      before?.state !== state || before.updatedAtMs !== updatedAtMs || before.approval !== approval;
    // What operators keep of it changes without it, and is a change of its own.
    const headline = thread && (isNew || hasMoved) ? await headlineOf(slug, thread) : null;
    const seenAtMs = isNew ? nowMs : before.seenAtMs;
    const shown = headline ? JSON.stringify(headline) : (before?.headline ?? "");
    known.set(key, {
      atMs: Math.max(atMs, before?.atMs ?? 0),
      seenAtMs,
      state,
      updatedAtMs,
      approval,
      headline: shown,
    });
    const isSame = !hasMoved && before.headline === shown;
    if (isFirst || thread === null || headline === null || isSame) return [];
    const change = { nth: 0, slug, atMs, thread, headline };
    return ranBetween(before, thread)
      ? [{ ...change, thread: { ...thread, state: "running" } }, change]
      : [change];
  }

  const headlineOf = (slug: string, thread: ChannelThread) => readHeadline(store, slug, thread, clock.now());

  function tell(changes: readonly ToldChange[]): void {
    if (changes.length === 0) return;
    const placed = changes.map((change) => ({ ...change, nth: ++told }));
    kept = [...kept, ...placed].slice(-MOST_KEPT);
    for (const callback of callbacks) callback(placed);
  }

  async function goOn(): Promise<void> {
    try {
      await readNow();
      isAway = false;
    } catch (error) {
      if (!isAway) log.warn({ reason: messageOf(error) }, "cannot look for changed threads: trying again");
      isAway = true;
    }
    if (isOn) schedule(Math.max(READ_EVERY_MS, slugs().length * PER_CHANNEL_MS));
  }

  function schedule(ms: number): void {
    if (timer) clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      void goOn();
    }, ms).unref();
  }

  return {
    async start() {
      isOn = true;
      await readNow();
      if (isOn && !timer) schedule(READ_EVERY_MS);
    },

    stop() {
      isOn = false;
      if (timer) clearTimeout(timer);
      timer = null;
    },

    poke() {
      // A read in progress may have begun before the change.
      if (isOn && (timer || reading)) schedule(POKED_MS);
    },

    count: () => told,

    since(count) {
      if (count > told || told - count > kept.length) return null;
      return kept.filter(({ nth }) => nth > count);
    },

    async changedSince(of, sinceMs) {
      if (clock.now() - sinceMs > REPLAYED_MS) return null;
      const changes: ToldChange[] = [];
      for (const slug of of) {
        const found = await store.changedThreads(slug, { sinceMs, limit: MOST_READ + 1 });
        if (changes.length + found.length > MOST_READ) return null;
        const read = found.map(async ({ uid, atMs }): Promise<ToldChange[]> => {
          const thread = await store.channelThread(slug, uid);
          return thread ? [{ nth: 0, slug, atMs, thread, headline: await headlineOf(slug, thread) }] : [];
        });
        changes.push(...(await Promise.all(read)).flat());
      }
      return changes.sort((a, b) => a.atMs - b.atMs);
    },

    onTold(callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
  };
}

/** A message came, and it is over: a run began and ended between two readings. */
function ranBetween(before: Known | undefined, { state, updatedAtMs, createdAtMs }: ChannelThread): boolean {
  const wasIdle = before === undefined || before.state === null || before.state === "idle";
  return wasIdle && state === "idle" && updatedAtMs > createdAtMs && updatedAtMs !== before?.updatedAtMs;
}

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, nth) => items.slice(nth * size, (nth + 1) * size));
}
