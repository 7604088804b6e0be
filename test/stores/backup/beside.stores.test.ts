// For src/stores/backup/store-data.ts, src/stores/backup/
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { newFence } from "../../../src/domain/threads/fence.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { Store } from "../../../src/store.ts";
import { findFaults } from "../../../src/stores/check/find-faults.ts";
import { suspicionsOf } from "../../../src/stores/check/suspicions.ts";
import { exportStore } from "../../../src/stores/backup/export.ts";
import { writeBackup } from "../../../src/stores/backup/file.ts";
import { retried } from "../../../src/stores/backup/retrying.ts";
import type { Reader } from "../../../src/stores/walk.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { dumpEmbedded, dumpRedis } from "../dump-store.ts";
import { checkInvariants } from "../twin/invariants.ts";
import type { StoreDump } from "../twin/invariants.ts";
import { sampleChannel, sampleCommit, sampleMessage, sampleRun, sampleWaiting, SLUG } from "../samples.ts";
import { linesOf, store as command } from "./copy.ts";
import { here, placeForTest } from "./places.ts";
import type { StorePlace } from "./places.ts";

/**
 * A backup that is taken while others write: whatever they do meanwhile, what it holds fits together, and nothing is
 * missing that was acknowledged before it began.
 */
const VISITORS = 70;
const ACCOUNTS = 12;
const WRITERS = 6;
const RECORDS_A_STEP = 6;

function dump({ env }: StorePlace): Promise<StoreDump> {
  return here === "redis" ? dumpRedis([env["REDIS_URL"] ?? ""]) : dumpEmbedded(env["DATA_DIR"] ?? "");
}

interface Spoken {
  uid: string;
  rev: number;
  lastOp: string | null;
  said: number;
}

test("a backup beside writers holds what was there before it, fits together, and no check of the store is alarmed", async () => {
  const from = await placeForTest();
  const store = await from.open();
  await store.putChannel(sampleChannel());
  const threads = await populate(store);
  const before = new Map(threads.map(({ uid, said }) => [uid, said]));

  let ended = false;
  let steps = 0;
  const writers = Array.from({ length: WRITERS }, async (_, nth) => {
    for (let i = nth; !ended; i = (i + WRITERS) % threads.length) {
      const thread = threads[i];
      if (thread) await sayMore(store, thread);
      steps += 1;
    }
  });
  const merging = identifyAll(store, () => void (steps += 1));

  const file = join(temporaryFolder(), "backup");
  try {
    await backUpBeside(from, file, () => steps);
  } finally {
    ended = true;
    await Promise.allSettled([...writers, merging]);
  }
  const merges = await merging;
  await store.close();
  const lines = linesOf(file);
  // On Redis some moved in its middle, or the test proves nothing of that; the embedded store stands still for it.
  if (here === "redis") expect(lines.filter(({ type }) => type === "moved").length).toBeGreaterThan(3);

  const to = await placeForTest();
  const { code, err } = await command(to.env, "restore", file);
  expect([code, err]).toEqual([0, ""]);
  const restored = await dump(to);
  expect(checkInvariants(restored)).toEqual([]);

  const messages = new Map(restored.threads.map((thread) => [thread.uid, thread.messageCount]));
  const lost = [...before].filter(([uid, said]) => (messages.get(uid) ?? 0) < said);
  expect(lost).toEqual([]);
  const named = new Set(restored.names.map(({ entry }) => entry.uid));
  expect([...before.keys()].filter((uid) => !named.has(uid))).toEqual([]);
  expect(restored.tokens.length).toBe(VISITORS);
  expect(merges).toBe(VISITORS - VISITORS / 10);
});

/** Takes a backup, in which somebody has written something between any few records; then checks the store. */
async function backUpBeside(from: StorePlace, file: string, steps: () => number): Promise<void> {
  const data = await from.openData();
  const unreadable: unknown[] = [];
  const slowly = async function* (reader: Reader) {
    let records = 0;
    for await (const record of exportStore(reader, (error) => unreadable.push(error))) {
      if (++records % RECORDS_A_STEP === 0) for (const seen = steps(); steps() === seen;) await turn();
      yield record;
    }
  };
  try {
    const header = { product: "test", store: here, takenAtMs: Date.now() } as const;
    await data.reading((reader) => writeBackup(file, header, slowly(reader)));
    expect(unreadable).toEqual([]);
    // Nor is what is only in the middle of a step called wrong.
    const suspicions = suspicionsOf(data.engine, { isServed: () => Promise.resolve(true) });
    expect(await findFaults(suspicions)).toEqual({ faults: [], isAll: true });
  } finally {
    await data.close();
  }
}

async function populate(store: Store): Promise<Spoken[]> {
  const caller = { slug: SLUG, displayName: null, thread: null, creates: true, atMs: 1 };
  for (let i = 0; i < ACCOUNTS; i++) {
    await store.admitUser({ ...caller, externalId: `account ${i}`, newUserId: newId() });
  }
  const visitors = Array.from({ length: VISITORS }, async (_, i) => {
    const userId = newId();
    const token = { tokenHash: `hash-${i}`, snapshot: "anonymous", ttlMs: 3_600_000 };
    await store.mintVisitor({ slug: SLUG, ...token, userId, atMs: i });
    const thread: Spoken = { uid: newId(), rev: 0, lastOp: null, said: 0 };
    // Of one name all of them: each merge makes an alias.
    await store.addThread({ slug: SLUG, userId, threadId: "chat", uid: thread.uid, atMs: i });
    await sayMore(store, thread);
    return thread;
  });
  return Promise.all(visitors);
}

/** One run from its claim to its end, with a message that waits meanwhile and is started and answered. */
async function sayMore(store: Store, thread: Spoken): Promise<void> {
  const { uid } = thread;
  const fence = newFence(store.processId);
  const commit = async (changes: Partial<Parameters<typeof sampleCommit>[0]>) => {
    const { rev, said, lastOp: readOp } = thread;
    const opId = newId();
    const ids = [said + 1, said + 2];
    const messages = ids.map((id) => sampleMessage(id, { runId: "r" }));
    const made = sampleCommit({ uid, opId, fence, rev, readOp, claims: false, messages, ...changes });
    const answer = await retried(() => store.commit(made));
    if (answer.type !== "committed") throw new Error(`Cannot say more: ${answer.type}`);
    thread.rev = answer.rev;
    thread.lastOp = opId;
    thread.said += 2;
  };
  const [first, second] = [newId(), newId()];
  const message = { ...sampleWaiting(first), clientMessageId: first };
  await commit({ claims: true, run: sampleRun(first), orWait: { message, max: 8 } });
  await retried(() => store.keepPart({ uid, fence, runId: first, nth: 0, text: "part" }));
  const waiting = { ...sampleWaiting(second), clientMessageId: second };
  await retried(() => store.wait(uid, waiting, 8));
  await commit({ run: sampleRun(second), endedRun: sampleRun(first), startsWaiting: second });
  await commit({ run: sampleRun(second), state: "idle", holds: false });
}

/** One visitor after another becomes an account, or joins one; answers how many joined. */
async function identifyAll(store: Store, onStep: () => void): Promise<number> {
  let merges = 0;
  for (let i = 0; i < VISITORS; i++) {
    const externalId = i % 10 === 0 ? `own ${i}` : `account ${i % ACCOUNTS}`;
    const tokenHash = `hash-${i}`;
    const { visitor, account } = await retried(() => store.readIdentity(SLUG, tokenHash, externalId));
    if (!visitor) throw new Error(`Cannot identify visitor ${i}: the token is gone`);
    const bound = { slug: SLUG, tokenHash, snapshot: "bound" };
    if (account === null) await retried(() => store.promote({ ...bound, externalId, user: visitor.user }));
    else {
      await retried(() => store.merge({ ...bound, from: visitor.user, into: account, result: account }));
      merges += 1;
    }
    onStep();
  }
  return merges;
}
