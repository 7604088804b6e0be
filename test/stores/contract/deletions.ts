import { beforeEach, describe, expect, it } from "vitest";
import type { Deletion, Store } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import {
  BUDGET_CHARS,
  DAY,
  SLUG,
  sampleChannel,
  sampleCommit,
  sampleMessage,
  sampleRun,
  sampleWaiting,
} from "../samples.ts";
import { addThread, admit, admitCaller, mint, rotate, sidesOf } from "../users.ts";

const AT_MS = 9_000;
const ofThread: Deletion = { kind: "thread", slug: SLUG, id: "t1", atMs: AT_MS };
const ofUser: Deletion = { kind: "user", slug: SLUG, id: "u1", atMs: AT_MS };
const asked = { ...sampleWaiting("w1"), clientMessageId: "m1" };
const catalog = [{ name: "addToCart", description: "A tool", inputSchema: { type: "object" as const } }];
const images = { uid: "t1", runId: "r1", images: ["data:image/png;base64,AAAA"] };

const file = { id: "f1", name: "a.txt", type: "text/plain" as const, bytes: 4, text: "Once" };
const upload = { uid: "t1", slug: SLUG, file, bytes: Buffer.from("Once") };

/** A visitor with a thread that is held, with everything that a thread can have. */
async function spoken(store: Store): Promise<string> {
  await mint(store, "h1", "u1");
  await addThread(store, "u1", "t1");
  await store.setCatalog("t1", SLUG, catalog);
  await store.keepImages(images);
  for (const id of ["f1", "f2"]) await store.keepUpload({ ...upload, file: { ...file, id } });
  expect(await store.takeUploads("t1", ["f1"])).toEqual({ type: "taken", files: [file] });
  const fence = `${store.processId}:a`;
  const messages = [sampleMessage(1), sampleMessage(2)];
  const orWait = { message: { ...asked, clientMessageId: "m0" }, max: 8 };
  await store.commit(sampleCommit({ opId: "claim", fence, messages, orWait }));
  await store.keepPart({ uid: "t1", fence, runId: "r1", nth: 0, text: "Once" });
  await store.wait("t1", asked, 8);
  return fence;
}

async function forgotten(store: Store, id = "t1"): Promise<void> {
  await store.unlistThread({ ...ofThread, id });
  await store.eraseThread(id, AT_MS);
}

/** All that can be read of the thread t1, but for its changes in the order of activity. */
async function readAll(store: Store) {
  return {
    record: await store.load("t1", BUDGET_CHARS),
    salvage: await store.salvage("t1", BUDGET_CHARS),
    history: await store.history("t1", { limit: 9, before: null }),
    runs: await store.runs("t1", 9),
    run: await store.run("t1", "r1"),
    waiting: await store.waitingRuns("t1"),
    images: await store.keptImages("t1", "r1"),
    file: [await store.keptFile("t1", "f1"), await store.keptFileBytes("t1", "f1")],
    claimed: [await store.claimed("t1", "m0"), await store.claimed("t1", "m1")],
    held: await store.heldBy(store.processId),
    due: await store.due(Number.MAX_SAFE_INTEGER, 9),
    names: await store.threads(SLUG, "u1"),
    ofChannel: (await store.channelThreads(SLUG, { limit: 9, after: null, sinceMs: 0, untilMs: Infinity }))
      .items,
    found: await store.channelThread(SLUG, "t1"),
  };
}

const NOTHING = {
  record: null,
  salvage: null,
  history: [],
  runs: [],
  run: null,
  waiting: [],
  images: [],
  file: [null, null],
  claimed: [null, null],
  held: [],
  due: [],
  names: [],
  ofChannel: [],
  found: null,
};

/** What comes late to a thread that was deleted, and its answer. */
const LATE: [string, (store: Store, fence: string) => Promise<unknown>, unknown][] = [
  [
    "a save of whoever held it",
    (store, fence) => store.commit(sampleCommit({ opId: "late", fence, claims: false, rev: 1 })),
    { type: "deleted" },
  ],
  [
    "the last save again, whose answer was lost",
    (store, fence) => store.commit(sampleCommit({ opId: "claim", fence, messages: [sampleMessage(1)] })),
    { type: "deleted" },
  ],
  [
    "a takeover",
    (store, takesFrom) =>
      store.commit(sampleCommit({ opId: "late", fence: "p2:b", takesFrom, rev: 1, readOp: "claim" })),
    { type: "deleted" },
  ],
  [
    "a claim, with a message that may wait",
    (store) =>
      store.commit(sampleCommit({ opId: "late", fence: "p2:b", orWait: { message: asked, max: 8 } })),
    { type: "deleted" },
  ],
  ["a message for the queue", (store) => store.wait("t1", asked, 8), { type: "deleted" }],
  [
    "a part of a long reply",
    (store, fence) => store.keepPart({ uid: "t1", fence, runId: "r1", nth: 1, text: "more" }),
    false,
  ],
  ["images of a message", (store) => store.keepImages(images), false],
  ["a file", (store) => store.keepUpload(upload), false],
  [
    "a file that waited for its message",
    (store) => store.takeUploads("t1", ["f2"]),
    { type: "missing", id: "f2" },
  ],
  [
    "a rating",
    (store) =>
      store.rate({
        uid: "t1",
        opId: "late",
        messageId: "1",
        feedback: { rating: "up", atMs: AT_MS },
        atMs: AT_MS,
        tells: [],
      }),
    { type: "not-found" },
  ],
  ["a catalog", (store) => store.setCatalog("t1", SLUG, catalog), false],
];

export function deletionPromises(bench: Bench): void {
  describe("deletion", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel()));

    it("P36: of a thread leaves nothing that can be read of it, on any handle, and wins over whatever comes late", async () => {
      const { store, another, reopen } = bench.it;
      const fence = await spoken(store);
      const before = await store.lastOp("t1");
      const other = (await another()) ?? store;
      await store.unlistThread(ofThread);
      expect(await store.eraseThread("t1", AT_MS)).toMatchObject({ fence });
      for (const each of [store, other]) {
        expect(await readAll(each)).toEqual(NOTHING);
        expect(await each.changedThreads(SLUG, { sinceMs: 0, limit: 9 })).toEqual([]);
      }
      expect(await store.look("t1", 1)).toMatchObject({ isDeleted: true, messageCount: 0, messages: [] });
      const { isDeleted, lastOp } = await store.look("t1", null);
      expect([isDeleted, lastOp]).toEqual([true, await store.lastOp("t1")]);
      expect(lastOp).not.toBe(before);
      // Not for a while: a tombstone outlives whatever is on its way, and a deletion that is carried out once more.
      for (let time = 0; time < 2; time++) {
        for (const [what, write, answer] of LATE) {
          expect([what, await write(other, fence)]).toEqual([what, answer]);
          expect(await readAll(store)).toEqual(NOTHING);
        }
        await store.eraseThread("t1", AT_MS + 1);
      }
      expect(await readAll(await reopen())).toEqual(NOTHING);
    });

    it("of a thread that waits for its page, and of one that nobody spoke in", async () => {
      const { store } = bench.it;
      const fence = await spoken(store);
      const rests = { claims: false, rev: 1, state: "awaiting", holds: false, deadlineMs: 5 } as const;
      const starts = { startsWaiting: "w1", run: sampleRun("w1"), messages: [sampleMessage(3)] };
      await store.commit(sampleCommit({ opId: "start", fence, ...rests, ...starts }));
      expect(await store.due(9, 9)).toEqual(["t1"]);
      await addThread(store, "u1", "t2");
      await forgotten(store);
      await forgotten(store, "t2");
      expect(await readAll(store)).toEqual(NOTHING);
      const late = sampleCommit({ uid: "t2", opId: "late", fence });
      expect(await store.commit(late)).toEqual({ type: "deleted" });
    });

    it("of a thread leaves its user and the others' threads as they are", async () => {
      const { store } = bench.it;
      await spoken(store);
      await addThread(store, "u1", "t2");
      const messages = [sampleMessage(1)];
      await store.commit(sampleCommit({ uid: "t2", opId: "two", fence: "p1:b", messages }));
      await forgotten(store);
      expect((await store.threads(SLUG, "u1")).map(({ uid }) => uid)).toEqual(["t2"]);
      expect((await store.load("t2", BUDGET_CHARS))?.tail).toEqual(messages);
      expect(await admit(store, "h1")).not.toBeNull();
    });

    it("of a thread gives its name to another one, also where the uid follows from the name", async () => {
      const { store } = bench.it;
      const named = async (newUid: string) =>
        (await admitCaller(store, { thread: { name: "order", newUid } }))?.threadUid;
      await named("one");
      await forgotten(store, "one");
      const uid = await named("one");
      expect([null, undefined, "one"]).not.toContain(uid);
      expect(await named("one")).toBe(uid);
      await store.unlistUser({ ...ofUser, id: "u-kim" });
      expect([null, undefined, "one", uid]).not.toContain(await named("one"));
    });

    it("of a user takes everything that leads to it, and admits its tokens no more", async () => {
      const { store } = bench.it;
      await spoken(store);
      await mint(store, "h9", "u9");
      await addThread(store, "u1", "t2");
      await store.flagUser(SLUG, "u1", { blocked: true });
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 5 });
      // Again, and by another deletion of a later time.
      for (const atMs of [AT_MS, AT_MS, AT_MS + 1])
        expect(await store.unlistUser({ ...ofUser, atMs })).toEqual(["t1", "t2"]);
      for (const uid of ["t1", "t2"]) await store.eraseThread(uid, AT_MS);

      expect(await readAll(store)).toEqual(NOTHING);
      expect(await admit(store, "h1")).toBeNull();
      expect(await store.findUser(SLUG, "u1")).toBeNull();
      const page = { limit: 9, after: null, order: "oldest first" as const };
      for (const which of [{}, { blocked: true }]) {
        const { items } = await store.usersPage(SLUG, { ...page, ...which });
        expect(items.map(({ user: { userId } }) => userId)).not.toContain("u1");
      }
      expect(await store.spentTokens(SLUG, "u1", DAY)).toBe(0);
      expect(await admit(store, "h9")).not.toBeNull();
      // Were its token there, it would lead to who has its id next.
      await mint(store, "next", "u1");
      expect(await admit(store, "h1")).toBeNull();
    });

    it("of a user wins over whoever is about to write to it", async () => {
      const { store } = bench.it;
      await admitCaller(store);
      await spoken(store);
      const sides = await sidesOf(store);
      await store.unlistUser(ofUser);

      expect(await store.merge(sides)).toBe("changed");
      const promotion = { slug: SLUG, tokenHash: "h1", externalId: "new", user: sides.from };
      expect(await store.promote({ ...promotion, snapshot: "bound" })).toBe("changed");
      expect(await addThread(store, "u1", "late")).toBe(false);
      expect(await store.flagUser(SLUG, "u1", { blocked: true })).toBeNull();
      expect(await store.renameUser(SLUG, "u1", "Late")).toBeNull();
      expect(await store.revokeTokens(SLUG, "u1")).toBe(false);
      expect(await rotate(store, "h1", "h2")).toBe(false);
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 5 });
      expect(await store.spentTokens(SLUG, "u1", DAY)).toBe(0);
      expect([await admit(store, "h1"), await store.findUser(SLUG, "u1")]).toEqual([null, null]);
      expect(await store.threads(SLUG, "u1")).toEqual([]);
    });

    it("of a user wins over a merge into it, and the visitor stays one", async () => {
      const { store } = bench.it;
      await admitCaller(store, { thread: { name: "order", newUid: "own" } });
      await spoken(store);
      const sides = await sidesOf(store);
      expect(await store.unlistUser({ ...ofUser, id: sides.into.userId })).toEqual(["own"]);
      expect(await store.merge(sides)).toBe("changed");
      expect((await store.readIdentity(SLUG, "h1", "kim")).account).toBeNull();
      expect((await admit(store, "h1", "t1"))?.threadUid).toBe("t1");
    });

    it("of a user lets the same external id begin anew as a stranger, a blocked one too", async () => {
      const { store } = bench.it;
      const thread = { name: "order", newUid: "own" };
      await admitCaller(store, { displayName: "Kim", thread });
      await store.flagUser(SLUG, "u-kim", { blocked: true });
      await store.unlistUser({ ...ofUser, id: "u-kim" });
      expect(await admitCaller(store, { creates: false })).toBeNull();
      const asNew = { newUserId: "u-new", thread: { ...thread, newUid: "new" } };
      expect(await admitCaller(store, asNew)).toMatchObject({
        user: { userId: "u-new", externalId: "kim", displayName: null, blocked: false },
        threadUid: "new",
      });
    });

    it("is planned first, in order of time, until it is carried out", async () => {
      const { store } = bench.it;
      const later = { ...ofUser, atMs: AT_MS + 1 };
      await store.planDeletion(later);
      await store.planDeletion(ofThread);
      await store.planDeletion({ ...ofThread, atMs: AT_MS + 5 });
      expect(await store.plannedDeletions(9)).toEqual([ofThread, later]);
      expect(await store.plannedDeletions(1)).toHaveLength(1);
      await store.endDeletion(ofThread);
      expect(await store.plannedDeletions(9)).toEqual([later]);
    });
  });
}
