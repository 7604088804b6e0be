import { beforeEach, describe, expect, it } from "vitest";
import type { Deletion, Store, ThreadCommit } from "../../src/store.ts";
import type { Bench } from "./contract.ts";
import { admit, admitCaller, mint } from "./contract-users.ts";
import {
  BUDGET_CHARS,
  DAY,
  SLUG,
  sampleChannel,
  sampleCommit,
  sampleMessage,
  sampleRun,
  sampleWaiting,
} from "./samples.ts";

const AT_MS = 9_000;
const ofThread: Deletion = { kind: "thread", slug: SLUG, id: "t1", atMs: AT_MS };
const ofUser: Deletion = { kind: "user", slug: SLUG, id: "u1", atMs: AT_MS };
const asked = { ...sampleWaiting("w1"), clientMessageId: "m1" };

/** A visitor with a thread that is held, with everything that a thread can have. */
async function spoken(store: Store, changes: Partial<ThreadCommit> = {}): Promise<string> {
  await mint(store, "h1", "u1");
  await store.addThread({ slug: SLUG, userId: "u1", threadId: "t1", uid: "t1", atMs: 1_000 });
  await store.setCatalog("t1", SLUG, [
    { name: "addToCart", description: "A tool", inputSchema: { type: "object" } },
  ]);
  await store.keepImages({ uid: "t1", runId: "r1", images: ["data:image/png;base64,AAAA"] });
  const fence = `${store.processId}:a`;
  const claim = sampleCommit({ opId: "claim", fence, messages: [sampleMessage(1), sampleMessage(2)] });
  await store.commit({
    ...claim,
    orWait: { message: { ...asked, clientMessageId: "m0" }, max: 8 },
    ...changes,
  });
  await store.keepPart({ uid: "t1", fence, runId: "r1", nth: 0, text: "Once" });
  await store.wait("t1", asked, 8);
  return fence;
}

async function forgotten(store: Store): Promise<void> {
  await store.unlistThread(ofThread);
  await store.eraseThread("t1", AT_MS);
}

/** All that can be read of the thread t1. */
async function readAll(store: Store) {
  return {
    record: await store.load("t1", BUDGET_CHARS),
    salvage: await store.salvage("t1", BUDGET_CHARS),
    history: await store.history("t1", { limit: 9, before: null }),
    runs: await store.runs("t1", 9),
    run: await store.run("t1", "r1"),
    waiting: await store.waitingRuns("t1"),
    images: await store.keptImages("t1", "r1"),
    claimed: [await store.claimed("t1", "m0"), await store.claimed("t1", "m1")],
    held: await store.heldBy(store.processId),
    due: await store.due(Number.MAX_SAFE_INTEGER, 9),
    names: await store.threads(SLUG, "u1"),
    ofChannel: (await store.channelThreads(SLUG, { limit: 9, after: null, sinceMs: 0, untilMs: Infinity }))
      .items,
    changed: await store.changedThreads(SLUG, { sinceMs: 0, limit: 9 }),
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
  claimed: [null, null],
  held: [],
  due: [],
  names: [],
  ofChannel: [],
  changed: [],
  found: null,
};

export function deletionPromises(bench: Bench): void {
  describe("deletion", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel()));

    it("of a thread leaves nothing that can be read of it, on any handle", async () => {
      const { store, another, reopen } = bench.it;
      await spoken(store);
      const other = await another();
      await forgotten(store);
      expect(await readAll(store)).toEqual(NOTHING);
      if (other) expect(await readAll(other)).toEqual(NOTHING);
      expect(await readAll(await reopen())).toEqual(NOTHING);
    });

    it("of a thread that waits for its page, and of one that nobody spoke in", async () => {
      const { store } = bench.it;
      const fence = await spoken(store);
      await store.commit(
        sampleCommit({
          opId: "start",
          fence,
          claims: false,
          rev: 1,
          startsWaiting: "w1",
          run: sampleRun("w1"),
          messages: [sampleMessage(3)],
          state: "awaiting",
          holds: false,
          deadlineMs: 5,
        }),
      );
      expect(await store.due(9, 9)).toEqual(["t1"]);
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "t2", uid: "t2", atMs: 1_000 });
      await forgotten(store);
      await store.unlistThread({ ...ofThread, id: "t2" });
      await store.eraseThread("t2", AT_MS);
      expect(await readAll(store)).toEqual(NOTHING);
      expect(await store.commit(sampleCommit({ uid: "t2", opId: "late", fence }))).toEqual({
        type: "deleted",
      });
    });

    it("tells by whom the thread was held", async () => {
      const { store } = bench.it;
      const fence = await spoken(store);
      expect(await store.eraseThread("t1", AT_MS)).toMatchObject({ fence });
      expect((await store.eraseThread("unknown", AT_MS)).fence).toBeNull();
    });

    it.each<[string, (store: Store, fence: string) => Promise<unknown>, unknown]>([
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
        (store, fence) =>
          store.commit(
            sampleCommit({ opId: "late", fence: "p2:b", takesFrom: fence, rev: 1, readOp: "claim" }),
          ),
        { type: "deleted" },
      ],
      [
        "a claim that found nothing there",
        (store) => store.commit(sampleCommit({ opId: "late", fence: "p2:b", messages: [sampleMessage(1)] })),
        { type: "deleted" },
      ],
      [
        "a claim with a message that may wait",
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
      [
        "images of a message",
        (store) => store.keepImages({ uid: "t1", runId: "r1", images: ["data:image/png;base64,BBBB"] }),
        false,
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
      [
        "a catalog",
        (store) =>
          store.setCatalog("t1", SLUG, [
            { name: "other", description: "A tool", inputSchema: { type: "object" } },
          ]),
        false,
      ],
    ])("wins over %s", async (_name, write, answer) => {
      const { store } = bench.it;
      const fence = await spoken(store);
      await forgotten(store);
      expect(await write(store, fence)).toEqual(answer);
      // The order of activity may name the thread, without content, until the deletion is carried out once more.
      const { changed: _, ...left } = await readAll(store);
      const { changed: __, ...nothing } = NOTHING;
      expect(left).toEqual(nothing);
      // Not for a while: a tombstone outlives whatever is on its way.
      await store.eraseThread("t1", AT_MS + 1);
      expect(await write(store, fence)).toEqual(answer);
    });

    it("is seen by whoever looks: nothing more will come", async () => {
      const { store } = bench.it;
      await spoken(store);
      const before = await store.lastOp("t1");
      await forgotten(store);
      expect(await store.look("t1", 1)).toMatchObject({ isDeleted: true, messageCount: 0, messages: [] });
      expect(await store.look("t1", null)).toMatchObject({ isDeleted: true });
      expect(await store.lastOp("t1")).not.toBe(before);
      expect(await store.lastOp("t1")).toBe((await store.look("t1", null)).lastOp);
    });

    it("of a thread leaves its user and the others' threads as they are", async () => {
      const { store } = bench.it;
      await spoken(store);
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "t2", uid: "t2", atMs: 1_000 });
      await store.commit(
        sampleCommit({ uid: "t2", opId: "two", fence: "p1:b", messages: [sampleMessage(1)] }),
      );
      await forgotten(store);
      expect((await store.threads(SLUG, "u1")).map(({ uid }) => uid)).toEqual(["t2"]);
      expect((await store.load("t2", BUDGET_CHARS))?.tail).toEqual([sampleMessage(1)]);
      expect(await admit(store, "h1")).not.toBeNull();
    });

    it("of a thread gives its name to another one", async () => {
      const { store } = bench.it;
      const named = (newUid: string) => admitCaller(store, { thread: { name: "order", newUid } });
      await named("one");
      await store.unlistThread({ ...ofThread, id: "one" });
      await store.eraseThread("one", AT_MS);
      expect((await named("two"))?.threadUid).toBe("two");
      expect((await named("one"))?.threadUid).toBe("two");
    });

    it("of a thread whose uid follows from its name gives the name another uid", async () => {
      const { store } = bench.it;
      const named = (externalId: string) =>
        admitCaller(store, {
          externalId,
          newUserId: `u-${externalId}`,
          thread: { name: "order", newUid: "one" },
        });
      await named("kim");
      await store.unlistThread({ ...ofThread, id: "one" });
      await store.eraseThread("one", AT_MS);
      const uid = (await named("kim"))?.threadUid;
      expect([null, undefined, "one"]).not.toContain(uid);
      expect((await named("kim"))?.threadUid).toBe(uid);
      await store.unlistUser({ ...ofUser, id: "u-kim" });
      expect([null, undefined, "one", uid]).not.toContain((await named("kim"))?.threadUid);
    });

    it("of a thread that a merge has moved meanwhile", async () => {
      const { store } = bench.it;
      await spoken(store);
      await admitCaller(store, { thread: { name: "t1", newUid: "own" } });
      const { visitor, account } = await store.readIdentity(SLUG, "h1", "kim");
      if (!visitor || !account) throw new Error("Cannot merge: a side is missing");
      await store.merge({
        slug: SLUG,
        tokenHash: "h1",
        from: visitor.user,
        into: account,
        result: account,
        snapshot: "bound",
      });
      await forgotten(store);
      expect((await store.threads(SLUG, account.userId)).map(({ uid }) => uid)).toEqual(["own"]);
      expect(await store.channelThread(SLUG, "t1")).toBeNull();
    });

    it("of a user takes everything that leads to it, and admits its tokens no more", async () => {
      const { store } = bench.it;
      await spoken(store);
      await mint(store, "h9", "u9");
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "t2", uid: "t2", atMs: 1_000 });
      await store.flagUser(SLUG, "u1", { blocked: true });
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 5 });
      expect(await store.unlistUser(ofUser)).toEqual(["t1", "t2"]);
      expect(await store.unlistUser(ofUser)).toEqual(["t1", "t2"]);
      for (const uid of ["t1", "t2"]) await store.eraseThread(uid, AT_MS);

      expect(await admit(store, "h1")).toBeNull();
      expect(await store.findUser(SLUG, "u1")).toBeNull();
      expect((await store.users(SLUG)).map(({ userId }) => userId)).toEqual(["u9"]);
      const page = { limit: 9, after: null, order: "oldest first" as const };
      expect((await store.usersPage(SLUG, page)).items).toHaveLength(1);
      expect(
        (await store.usersPage(SLUG, { ...page, blocked: true })).items.map(({ user }) => user.userId),
      ).not.toContain("u1");
      expect(await store.spentTokens(SLUG, "u1", DAY)).toBe(0);
      expect(await readAll(store)).toEqual(NOTHING);
      expect(await admit(store, "h9")).not.toBeNull();
    });

    it("of a user wins over whoever is about to write to it", async () => {
      const { store } = bench.it;
      await admitCaller(store);
      await spoken(store);
      const { visitor, account } = await store.readIdentity(SLUG, "h1", "kim");
      if (!visitor || !account) throw new Error("Cannot merge: a side is missing");
      const merge = { slug: SLUG, tokenHash: "h1", from: visitor.user, into: account, result: account };
      await store.unlistUser(ofUser);

      expect(await store.merge({ ...merge, snapshot: "bound" })).toBe("changed");
      const promotion = { slug: SLUG, tokenHash: "h1", externalId: "new", user: visitor.user };
      expect(await store.promote({ ...promotion, snapshot: "bound" })).toBe("changed");
      const thread = { slug: SLUG, userId: "u1", threadId: "late", uid: "late", atMs: 1_000 };
      expect(await store.addThread(thread)).toBe(false);
      expect(await store.flagUser(SLUG, "u1", { blocked: true })).toBeNull();
      expect(await store.renameUser(SLUG, "u1", "Late")).toBeNull();
      expect(await store.revokeTokens(SLUG, "u1")).toBe(false);
      const rotation = { slug: SLUG, tokenHash: "h1", userId: "u1", newTokenHash: "h2", ttlMs: 60_000 };
      expect(await store.rotateToken(rotation)).toBe(false);
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 5 });
      expect(await store.spentTokens(SLUG, "u1", DAY)).toBe(0);
      expect(await admit(store, "h1")).toBeNull();
      expect(await store.findUser(SLUG, "u1")).toBeNull();
      expect(await store.threads(SLUG, "u1")).toEqual([]);
    });

    it("of a user wins over a merge into it, and the visitor stays one", async () => {
      const { store } = bench.it;
      await admitCaller(store, { thread: { name: "order", newUid: "own" } });
      await spoken(store);
      const { visitor, account } = await store.readIdentity(SLUG, "h1", "kim");
      if (!visitor || !account) throw new Error("Cannot merge: a side is missing");
      expect(await store.unlistUser({ ...ofUser, id: account.userId })).toEqual(["own"]);
      const merge = { slug: SLUG, tokenHash: "h1", from: visitor.user, into: account, result: account };
      expect(await store.merge({ ...merge, snapshot: "bound" })).toBe("changed");
      expect((await store.readIdentity(SLUG, "h1", "kim")).account).toBeNull();
      expect((await admit(store, "h1", "t1"))?.threadUid).toBe("t1");
    });

    it("of a user lets the same external id begin anew as a stranger, a blocked one too", async () => {
      const { store } = bench.it;
      const before = await admitCaller(store, {
        displayName: "Kim",
        thread: { name: "order", newUid: "own" },
      });
      const userId = before?.user.userId ?? "";
      await store.flagUser(SLUG, userId, { blocked: true });
      await store.unlistUser({ ...ofUser, id: userId });
      expect(await admitCaller(store, { creates: false })).toBeNull();
      const after = await admitCaller(store, {
        newUserId: "u-new",
        thread: { name: "order", newUid: "new" },
      });
      expect(after).toMatchObject({
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
