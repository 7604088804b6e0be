import { systemClock } from "../src/clock.ts";
import { newId } from "../src/domain/ids.ts";
import { threadUid } from "../src/domain/threads/thread-uid.ts";
import { StoreUnavailable } from "../src/store.ts";
import type { Store } from "../src/store.ts";
import { openEmbeddedStore } from "../src/stores/embedded.ts";
import { openRedisStore } from "../src/stores/redis.ts";
import { tables } from "../src/stores/tables.ts";
import { SLUG } from "./rig/askings.ts";
import { filledThread } from "./rig/commits.ts";
import { copyThreads } from "./rig/copy-threads.ts";
import type { Owned } from "./rig/copy-threads.ts";
import { pause } from "./rig/load.ts";

/**
 * Fills a store with many threads, each with a message, its reply and a user of its own: `fill.js redis URL 1000000`,
 * `fill.js embedded DATA_DIR 1000000`. With `mixed` after it, some users are blocked, and some threads wait for their page.
 * A service must have run on the store before, for the channel, and none may run now. It runs in a process of its own, so that
 * its memory is freed when the measurement begins.
 */
const NAME = "kept";
const AT_ONCE = 1_000;
const MOST_TRIES = 60;
const PAUSE_MS = 500;
const DAY_MS = 86_400_000;
/** With `mixed`: one user in this many is blocked, one thread in this many waits. */
const BLOCKED_EVERY = 10_000;
const AWAITING_EVERY = 1_000;
const SPREAD_MS = 30 * DAY_MS;

const [kind, place = "", count = "0", how] = process.argv.slice(2);
const COUNT = Number(count);
const isMixed = how === "mixed";
const isBlocked = (nth: number) => isMixed && nth % BLOCKED_EVERY === 0;
const isAwaiting = (nth: number) => isMixed && nth % AWAITING_EVERY === 1;

/** Spread over the last month, in the order of their keys: in any other, each transaction rewrites most of lmdb's pages. */
function ownedThreads(): Owned[] {
  const userIds = Array.from({ length: COUNT }, () => newId()).toSorted();
  const externalIds = Array.from({ length: COUNT }, (_, i) => `owner-${String(i).padStart(8, "0")}`);
  const firstAtMs = Date.now() - SPREAD_MS;
  return externalIds
    .map((externalId) => {
      const uid = threadUid(SLUG, externalId, NAME);
      return { externalId, uid, key: tables.header.key(uid) };
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ externalId, uid }, i) => ({
      externalId,
      uid,
      name: NAME,
      userId: userIds[i] ?? "",
      atMs: firstAtMs + Math.floor((i * SPREAD_MS) / COUNT),
    }));
}

/** The thread's next step, a second later, by which it waits for its page. */
function awaited({ uid, userId, atMs }: Owned, readOp: string) {
  const step = filledThread({ uid, userId, rev: 1, readOp, from: 2, count: 1, atMs: atMs + 1_000 });
  return { ...step, state: "awaiting" as const, deadlineMs: Date.now() + DAY_MS };
}

async function write(store: Store, { externalId, userId, uid, atMs }: Owned): Promise<void> {
  const thread = { name: NAME, newUid: uid };
  const caller = { slug: SLUG, externalId, displayName: null, newUserId: userId, thread };
  await surely(() => store.admitUser({ ...caller, creates: true, atMs }));
  const commit = filledThread({ uid, userId, rev: 0, from: 0, count: 2, atMs });
  await surely(() => store.commit(commit));
}

/** Blocks the user, and lets the thread wait, where this is their turn. */
async function mix(store: Store, one: Owned, nth: number): Promise<void> {
  if (isBlocked(nth)) await surely(() => store.flagUser(SLUG, one.userId, { blocked: true }));
  if (!isAwaiting(nth)) return;
  const readOp = (await store.load(one.uid, 0))?.lastOp ?? "";
  const commit = awaited(one, readOp);
  await surely(() => store.commit(commit));
}

/** Writes the first one with the store's own calls; the others are copies of its records. */
async function fillRedis(url: string, [first, ...others]: Owned[]): Promise<void> {
  if (!first) return;
  const log = { warn() {} };
  const open = () => openRedisStore({ urls: [url], durability: "local", clock: systemClock, log });
  const filling = await open();
  await write(filling, first);
  await filling.close();
  await copyThreads(url, first, others);
  const store = await open();
  for (const [nth, one] of [first, ...others].entries()) await mix(store, one, nth);
  await store.close();
}

/** With the store's own calls, many at once: those of one turn of the event loop wait for the disk once. */
async function fillEmbedded(dataDir: string, threads: Owned[]): Promise<void> {
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  for (let from = 0; from < threads.length; from += AT_ONCE) {
    const some = threads.slice(from, from + AT_ONCE);
    await Promise.all(
      some.map(async (one, i) => {
        await write(store, one);
        await mix(store, one, from + i);
      }),
    );
  }
  await store.close();
}

/** While gigabytes are written, the disk may delay a step beyond its deadline; each step may be repeated. */
async function surely(step: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await step();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || tries === MOST_TRIES) throw error;
      await pause(PAUSE_MS);
    }
  }
}

const fill = kind === "redis" ? fillRedis : fillEmbedded;
await fill(place, ownedThreads());
