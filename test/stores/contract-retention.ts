import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../src/store.ts";
import type { Bench } from "./contract.ts";
import { admit, admitCaller, mint } from "./contract-users.ts";
import { DAY, LIFETIME_MS, SLUG, sampleChannel, sampleCommit, sampleMessage } from "./samples.ts";

const HASH = "1".repeat(64);
const OTHER = "2".repeat(64);

/** A thread of u1 in which the last message is of that time. */
async function spokenAt(store: Store, uid: string, atMs: number, state: "idle" | "running" = "idle") {
  await store.addThread({ slug: SLUG, userId: "u1", threadId: uid, uid, atMs: 1 });
  const fence = `${store.processId}:${uid}`;
  const messages = [sampleMessage(1, { createdAtMs: atMs })];
  const holds = state === "running";
  await store.commit(sampleCommit({ uid, opId: `say ${uid}`, fence, messages, state, holds, atMs }));
}

/** What rests since then, once it is in the order. */
function resting(store: Store, untilMs: number, limit = 9) {
  return store.restingThreads(SLUG, { untilMs, limit, after: null });
}

export function retentionPromises(bench: Bench): void {
  describe("what is past its date", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel()));

    it("hasValidToken() knows a token from its making to its end", async () => {
      const { store, reopen } = bench.it;
      await mint(store, HASH, "u1");
      expect(await store.hasValidToken(SLUG, "u1")).toBe(true);
      expect(await store.hasValidToken(SLUG, "u2")).toBe(false);
      expect(await (await reopen()).hasValidToken(SLUG, "u1")).toBe(true);
    });

    it("hasValidToken() follows a token that is rotated, and ends with a revocation", async () => {
      const { store } = bench.it;
      await mint(store, HASH, "u1");
      const rotation = { slug: SLUG, tokenHash: HASH, userId: "u1", newTokenHash: OTHER, ttlMs: 60_000 };
      expect(await store.rotateToken(rotation)).toBe(true);
      expect(await store.hasValidToken(SLUG, "u1")).toBe(true);
      await store.revokeTokens(SLUG, "u1");
      expect(await store.hasValidToken(SLUG, "u1")).toBe(false);
    });

    it("hasValidToken() ends with the token's time", async () => {
      const { store, elapse } = bench.it;
      await mint(store, HASH, "u1", 1_000, LIFETIME_MS);
      await elapse(1.3 * LIFETIME_MS);
      expect(await store.hasValidToken(SLUG, "u1")).toBe(false);
    });

    it("hasValidToken() finds a token with the account that its user was merged into", async () => {
      const { store } = bench.it;
      await mint(store, HASH, "u1");
      await admitCaller(store);
      const { visitor, account } = await store.readIdentity(SLUG, HASH, "kim");
      if (!visitor || !account) throw new Error("Cannot merge: a side is missing");
      const sides = { from: visitor.user, into: account, result: account };
      expect(await store.merge({ slug: SLUG, tokenHash: HASH, ...sides, snapshot: "bound" })).toBe("done");
      expect(await store.hasValidToken(SLUG, "u-kim")).toBe(true);
      expect(await store.hasValidToken(SLUG, "u1")).toBe(false);
    });

    it("unlistUser() takes the user's tokens along: nothing has to look for them", async () => {
      const { store } = bench.it;
      await mint(store, HASH, "u1");
      await mint(store, OTHER, "u2");
      await store.unlistUser({ kind: "user", slug: SLUG, id: "u1", atMs: 9_000 });
      // Were the first token there, it would lead to this one.
      await mint(store, "3".repeat(64), "u1");
      expect(await admit(store, HASH)).toBeNull();
      expect(await admit(store, OTHER)).not.toBeNull();
    });

    it("unlistUser() takes along what webhooks were not told yet of the user, but for the deletion itself", async () => {
      const { store } = bench.it;
      const telling = (id: string, type: string, data: object) => ({
        id,
        endpoint: "hook",
        atMs: 1,
        body: JSON.stringify({ type, data }),
      });
      await mint(store, HASH, "u1");
      const { visitor } = await store.readIdentity(SLUG, HASH, "kim");
      if (!visitor) throw new Error("Cannot promote: there is no visitor");
      const tells = [
        telling("one", "user.identified", { userId: "u1", externalUserId: "kim" }),
        telling("merged", "user.identified", { userId: "u2", mergedUserId: "u1" }),
        telling("others", "user.identified", { userId: "u2", externalUserId: "u1" }),
      ];
      const promotion = { slug: SLUG, tokenHash: HASH, externalId: "kim", user: visitor.user };
      expect(await store.promote({ ...promotion, snapshot: "bound", tells })).toBe("done");
      const deletion = { kind: "user", slug: SLUG, id: "u1", atMs: 9_000 } as const;
      await store.unlistUser(deletion, [telling("gone", "user.deleted", { userId: "u1" })]);
      const isThere = async (nth: string) =>
        (await store.outbox?.event({ slug: SLUG, endpoint: "hook", uid: null, nth })) !== null;
      const there = await Promise.all(["one", "merged", "others", "gone"].map(isThere));
      expect(there).toEqual([false, false, true, true]);
    });

    it("dropSilentVisitor() takes along what the visitor had spent in threads that are gone", async () => {
      const { store } = bench.it;
      await mint(store, HASH, "u1");
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 5 });
      expect(await store.dropSilentVisitor(SLUG, "u1")).toBe(true);
      await mint(store, OTHER, "u1");
      expect(await store.spentTokens(SLUG, "u1", DAY)).toBe(0);
    });

    it("restingThreads() begins with what rests longest, a page at a time, up to a time", async () => {
      const { store } = bench.it;
      await mint(store, HASH, "u1");
      for (const [uid, atMs] of [
        ["c", 300],
        ["a", 100],
        ["b", 200],
        ["late", 400],
      ] as const)
        await spokenAt(store, uid, atMs);
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "silent", uid: "silent", atMs: 50 });
      const uids = async () => (await resting(store, 300)).items.map(({ uid }) => uid);
      await expect.poll(uids, { timeout: 30_000 }).toEqual(["silent", "a", "b", "c"]);
      const first = await resting(store, 300, 3);
      expect(first.items.map(({ uid }) => uid)).toEqual(["silent", "a", "b"]);
      expect(first.items[1]).toEqual({ uid: "a", updatedAtMs: 100, state: "idle", rev: 1 });
      const rest = await store.restingThreads(SLUG, { untilMs: 300, limit: 3, after: first.next });
      expect(rest).toMatchObject({ items: [{ uid: "c" }], next: null });
      expect((await resting(store, 40)).items).toEqual([]);
    });

    it("restingThreads() says of a thread what it is doing, and of a tombstone that it is one", async () => {
      const { store } = bench.it;
      await mint(store, HASH, "u1");
      await spokenAt(store, "a", 100, "running");
      await spokenAt(store, "b", 200);
      await store.eraseThread("b", 9_000);
      const found = async () => (await resting(store, 300)).items;
      await expect.poll(found, { timeout: 30_000 }).toMatchObject([
        { uid: "a", state: "running", rev: 1 },
        { uid: "b", rev: null },
      ]);
    });

    it("eraseUnchanged() does nothing where something was said meanwhile", async () => {
      const { store } = bench.it;
      await mint(store, HASH, "u1");
      await spokenAt(store, "a", 100);
      expect(await store.eraseUnchanged("a", 9_000, 0)).toBeNull();
      expect((await store.look("a", null)).messageCount).toBe(1);
      expect(await store.eraseUnchanged("a", 9_000, 1)).toMatchObject({ fence: null });
      expect(await store.look("a", null)).toMatchObject({ isDeleted: true, messageCount: 0 });
      // A tombstone is nobody's any more, whatever is asked of it.
      expect(await store.eraseUnchanged("a", 9_000, 7)).not.toBeNull();
      expect(await store.eraseUnchanged("unknown", 9_000, 0)).not.toBeNull();
    });

    it("keeps, for each channel, how far a walk over its users came", async () => {
      const { store, reopen } = bench.it;
      expect(await store.sweepPlace(SLUG)).toBeNull();
      await store.setSweepPlace(SLUG, "1000-u1");
      const later = await reopen();
      expect(await later.sweepPlace(SLUG)).toBe("1000-u1");
      expect(await later.sweepPlace("other")).toBeNull();
      await later.setSweepPlace(SLUG, null);
      expect(await later.sweepPlace(SLUG)).toBeNull();
    });
  });
}
