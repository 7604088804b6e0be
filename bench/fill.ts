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
import { pause } from "./rig/load.ts";

/**
 * Fills a store with so many threads, each with a message, its reply and a user of its own: `fill.js redis URL 1000000`,
 * `fill.js embedded DATA_DIR 1000000`. A service must have run on it before, for the channel, and none may run now. In
 * a process of its own: the memory that it takes is gone when the measurement begins.
 */
interface Owned {
  externalId: string;
  userId: string;
  uid: string;
}

const NAME = "kept";
const CALLS_AT_ONCE = 512;
const THREADS_IN_A_CHANGE = 2_000;
const MOST_TRIES = 60;
const PAUSE_MS = 500;

/** In the order of their keys: in any other, lmdb writes most of its pages anew with every change. */
function ownedThreads(count: number): Owned[] {
  const userIds = Array.from({ length: count }, () => newId()).toSorted();
  const externalIds = Array.from({ length: count }, (_, i) => `owner-${i}`);
  return externalIds
    .map((externalId) => ({ externalId, uid: threadUid(SLUG, externalId, NAME) }))
    .toSorted((a, b) => (a.uid < b.uid ? -1 : 1))
    .map((thread, i) => ({ ...thread, userId: userIds[i] ?? "" }));
}

/** By the store's own calls, many under way. */
async function fillRedis(url: string, threads: Owned[]): Promise<void> {
  const log = { warn() {} };
  const store = await openRedisStore({ urls: [url], durability: "local", clock: systemClock, log });
  const atMs = Date.now();
  const left = threads.values();
  const fill = async () => {
    for (const { externalId, userId, uid } of left) {
      const thread = { name: NAME, newUid: uid };
      const caller = { slug: SLUG, externalId, displayName: null, newUserId: userId, thread };
      const commit = filledThread({ uid, userId, rev: 0, from: 0, count: 2 });
      await Promise.all([
        surely(() => store.admitUser({ ...caller, creates: true, atMs })),
        surely(() => store.commit(commit)),
      ]);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, fill));
  await store.close();
}

/** By the store's own records, many threads in one change: a change for each would wait for the disk a million times. */
async function fillEmbedded(dataDir: string, threads: Owned[]): Promise<void> {
  const db = openDb(dataDir);
  const [ofThreads, ofUsers] = [threadRecords(db), userRecords(db)];
  const createdAtMs = Date.now();
  const write = ({ externalId, userId, uid }: Owned) => {
    const user = { userId, externalId, displayName: null, blocked: false, whitelisted: false };
    ofUsers.putUser(SLUG, { user, createdAtMs, spent: [] });
    ofUsers.putThread(SLUG, userId, { uid, threadId: NAME, createdAtMs });
    commitThread(ofThreads, filledThread({ uid, userId, rev: 0, from: 0, count: 2 }));
  };
  for (let from = 0; from < threads.length; from += THREADS_IN_A_CHANGE) {
    const some = threads.slice(from, from + THREADS_IN_A_CHANGE);
    await surely(() => db.change("fill the store", () => some.forEach(write)));
  }
  await db.close();
}

/** A disk that is given gigabytes may keep a step waiting for longer than its deadline; each step may be repeated. */
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

const [kind, place = "", count] = process.argv.slice(2);
const fill = kind === "redis" ? fillRedis : fillEmbedded;
await fill(place, ownedThreads(Number(count)));
