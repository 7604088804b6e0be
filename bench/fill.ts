import { systemClock } from "../src/clock.ts";
import { newId } from "../src/domain/ids.ts";
import { threadUid } from "../src/domain/thread-uid.ts";
import { StoreUnavailable } from "../src/store.ts";
import { commitThread } from "../src/stores/embedded/commit.ts";
import { openDb } from "../src/stores/embedded/db.ts";
import { threadRecords } from "../src/stores/embedded/thread-records.ts";
import { userRecords } from "../src/stores/embedded/user-records.ts";
import { openRedisStore } from "../src/stores/redis.ts";
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
const THREADS_IN_A_CHANGE = 5_000;
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
    .map((externalId) => ({ externalId, uid: threadUid(SLUG, externalId, NAME) }))
    .toSorted((a, b) => (a.uid < b.uid ? -1 : 1))
    .map((thread, i) => ({
      ...thread,
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

/** Writes the first one with the store's own calls; the others are copies of its records. */
async function fillRedis(url: string, [first, ...others]: Owned[]): Promise<void> {
  if (!first) return;
  const log = { warn() {} };
  const store = await openRedisStore({ urls: [url], durability: "local", clock: systemClock, log });
  const { externalId, userId, uid, atMs } = first;
  const thread = { name: NAME, newUid: uid };
  const caller = { slug: SLUG, externalId, displayName: null, newUserId: userId, thread };
  const commit = filledThread({ uid, userId, rev: 0, from: 0, count: 2, atMs });
  await store.admitUser({ ...caller, creates: true, atMs });
  await store.commit(commit);
  await copyThreads(url, first, others);
  for (const [nth, one] of [first, ...others].entries()) {
    if (isBlocked(nth)) await surely(() => store.flagUser(SLUG, one.userId, { blocked: true }));
    if (isAwaiting(nth)) await surely(() => store.commit(awaited(one, commit.opId)));
  }
  await store.close();
}

/** Writes the store's records directly, many threads in one transaction: one for each would wait for the disk a million times. */
async function fillEmbedded(dataDir: string, threads: Owned[]): Promise<void> {
  const db = await openDb(dataDir);
  const [ofThreads, ofUsers] = [threadRecords(db), userRecords(db)];
  const write = (one: Owned, nth: number) => {
    const { externalId, userId, uid, atMs } = one;
    const user = { userId, externalId, displayName: null, blocked: isBlocked(nth), whitelisted: false };
    ofUsers.putUser(SLUG, { user, createdAtMs: atMs, spent: [] });
    ofUsers.putThread(SLUG, userId, { uid, threadId: NAME, createdAtMs: atMs });
    const commit = filledThread({ uid, userId, rev: 0, from: 0, count: 2, atMs });
    commitThread(ofThreads, commit);
    if (isAwaiting(nth)) commitThread(ofThreads, awaited(one, commit.opId));
  };
  for (let from = 0; from < threads.length; from += THREADS_IN_A_CHANGE) {
    const some = threads.slice(from, from + THREADS_IN_A_CHANGE);
    await surely(() => db.change("fill the store", () => some.forEach((one, i) => write(one, from + i))));
  }
  await db.close();
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
