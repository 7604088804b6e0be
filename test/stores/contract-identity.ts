import { beforeEach, describe, expect, it } from "vitest";
import type { User } from "../../src/domain/user.ts";
import type { Store } from "../../src/store.ts";
import type { Bench } from "./contract.ts";
import { admit, admitCaller, mint } from "./contract-users.ts";
import { LIFETIME_MS, DAY, SLUG, sampleChannel } from "./samples.ts";

const anonymous: User = {
  userId: "u1",
  externalId: null,
  displayName: null,
  blocked: false,
  whitelisted: false,
};
const promotion = { slug: SLUG, tokenHash: "h1", externalId: "kim", user: anonymous, snapshot: "bound" };

/** An anonymous visitor u1 with a thread, and the account u-kim with one. */
async function twoSides(store: Store): Promise<{ from: User; into: User }> {
  await mint(store, "h1", "u1");
  await store.addThread({ slug: SLUG, userId: "u1", threadId: "mine", uid: "t1", atMs: 20 });
  await admitCaller(store, { thread: { name: "yours", newUid: "t2" }, atMs: 10 });
  const { visitor, account } = await store.readIdentity(SLUG, "h1", "kim");
  if (visitor === null || account === null) throw new Error("Cannot set up a merge: a side is missing");
  return { from: visitor.user, into: account };
}

function mergeOf({ from, into }: { from: User; into: User }) {
  const result: User = {
    ...into,
    blocked: from.blocked || into.blocked,
    whitelisted: from.whitelisted || into.whitelisted,
  };
  return { slug: SLUG, tokenHash: "h1", from, into, result, snapshot: "bound" };
}

export function identityPromises(bench: Bench): void {
  describe("identity", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel()));

    it("readIdentity() reads both sides, and changes neither", async () => {
      const { store } = bench.it;
      expect(await store.readIdentity(SLUG, "h1", "kim")).toEqual({ visitor: null, account: null });
      await mint(store, "h1", "u1");
      expect(await store.readIdentity(SLUG, "h1", "kim")).toEqual({
        visitor: { user: anonymous, snapshot: "token of u1" },
        account: null,
      });
      const account = (await admitCaller(store))?.user;
      expect((await store.readIdentity(SLUG, "h1", "kim")).account).toEqual(account);
      expect((await store.readIdentity(SLUG, "h2", "kim")).visitor).toBeNull();
    });

    it("readIdentity() is no use of the token", async () => {
      const { store, elapse } = bench.it;
      await mint(store, "h1", "u1", 1_000, LIFETIME_MS);
      await elapse(0.6 * LIFETIME_MS);
      expect((await store.readIdentity(SLUG, "h1", "kim")).visitor).not.toBeNull();
      await elapse(0.7 * LIFETIME_MS);
      expect((await store.readIdentity(SLUG, "h1", "kim")).visitor).toBeNull();
    });

    it("promote() makes the anonymous user the account, with its threads and its token", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "mine", uid: "t1", atMs: 20 });
      expect(await store.promote(promotion)).toBe("done");
      const account = { ...anonymous, externalId: "kim" };
      expect(await store.readIdentity(SLUG, "h1", "kim")).toEqual({
        visitor: { user: account, snapshot: "bound" },
        account,
      });
      expect((await admit(store, "h1", "mine"))?.threadUid).toBe("t1");
      expect((await admitCaller(store))?.user).toEqual(account);
      expect(await store.users(SLUG)).toEqual([account]);
    });

    it("promote() keeps the token's lifetime as it is", async () => {
      const { store, elapse } = bench.it;
      await mint(store, "h1", "u1", 1_000, LIFETIME_MS);
      await elapse(0.6 * LIFETIME_MS);
      expect(await store.promote(promotion)).toBe("done");
      expect((await store.readIdentity(SLUG, "h1", "kim")).visitor).not.toBeNull();
      await elapse(0.7 * LIFETIME_MS);
      expect(await admit(store, "h1")).toBeNull();
    });

    it("promote() is `changed` where the account exists meanwhile", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await admitCaller(store);
      expect(await store.promote(promotion)).toBe("changed");
      expect(await store.findUser(SLUG, "u1")).toEqual(anonymous);
      expect((await admit(store, "h1"))?.snapshot).toBe("token of u1");
    });

    it("promote() is `changed` where the user is not as it was read", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await store.flagUser(SLUG, "u1", { blocked: true });
      expect(await store.promote(promotion)).toBe("changed");
      expect(await store.findUser(SLUG, "kim")).toBeNull();
    });

    it("promote() is `changed` where the token is another's, unknown, or was used for it already", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await mint(store, "h2", "u2");
      expect(await store.promote({ ...promotion, tokenHash: "h2" })).toBe("changed");
      expect(await store.promote({ ...promotion, tokenHash: "h3" })).toBe("changed");
      expect(await store.promote(promotion)).toBe("done");
      expect(await store.promote(promotion)).toBe("changed");
    });

    it("P11: two tokens promoted at once to one external id make one account", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await mint(store, "h2", "u2");
      const other = { ...promotion, tokenHash: "h2", user: { ...anonymous, userId: "u2" } };
      const results = await Promise.all([store.promote(promotion), store.promote(other)]);
      expect(results.toSorted()).toEqual(["changed", "done"]);
    });

    it("P10: merge() moves threads and token to the account, and deletes the anonymous record", async () => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      expect(await store.merge(mergeOf(sides))).toBe("done");
      expect(await store.findUser(SLUG, "u1")).toBeNull();
      expect(await store.users(SLUG)).toEqual([sides.into]);
      expect(await store.threads(SLUG, "u1")).toEqual([]);
      expect(await store.threads(SLUG, "u-kim")).toEqual([
        { uid: "t2", threadId: "yours", createdAtMs: 10 },
        { uid: "t1", threadId: "mine", createdAtMs: 20 },
      ]);
      expect(await admit(store, "h1", "mine")).toMatchObject({
        user: sides.into,
        snapshot: "bound",
        threadUid: "t1",
      });
      const called = await admitCaller(store, { thread: { name: "mine", newUid: "t9" } });
      expect(called?.threadUid).toBe("t1");
    });

    it("after a merge the anonymous user is gone: no thread, no tokens, no flag", async () => {
      const { store } = bench.it;
      await store.merge(mergeOf(await twoSides(store)));
      expect(await store.addThread({ slug: SLUG, userId: "u1", threadId: "n", uid: "t3", atMs: 30 })).toBe(
        false,
      );
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 5 });
      expect(await store.flagUser(SLUG, "u1", { blocked: true })).toBeNull();
      expect(await store.findUser(SLUG, "u1")).toBeNull();
      expect(await store.threads(SLUG, "u1")).toEqual([]);
    });

    it("P35: after a merge the account has spent what both had spent", async () => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 30 });
      await store.spendTokens({ slug: SLUG, userId: "u-kim", day: DAY, tokens: 12 });
      expect(await store.merge(mergeOf(sides))).toBe("done");
      expect(await store.spentTokens(SLUG, "u-kim", DAY)).toBe(42);
      // A run of before the merge still says the old name.
      expect(await store.spentTokens(SLUG, "u1", DAY)).toBe(42);
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 8 });
      expect(await store.spentTokens(SLUG, "u-kim", DAY)).toBe(50);
    });

    it("P16: a token that is merged into an account whose tokens were revoked is one of its new ones", async () => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      await store.revokeTokens(SLUG, "u-kim");
      expect(await store.merge(mergeOf(sides))).toBe("done");
      expect(await admit(store, "h1")).toMatchObject({ user: { userId: "u-kim" } });
      const changes = await store.changeCount();
      await store.revokeTokens(SLUG, "u-kim");
      expect(await admit(store, "h1")).toBeNull();
      // Every instance is told: feeds of the user's are open somewhere.
      expect(await store.changeCount()).toBeGreaterThan(changes);
    });

    it("merge() writes the account as it shall be", async () => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      const result = { ...sides.into, displayName: "Kim", blocked: true, whitelisted: true };
      expect(await store.merge({ ...mergeOf(sides), result })).toBe("done");
      expect(await store.findUser(SLUG, "kim")).toEqual(result);
    });

    it("attributes stay the account's in a promotion and in a merge, and become what a merge says", async () => {
      const { store } = bench.it;
      await admitCaller(store, { attributes: { plan: "pro" } });
      expect(await store.merge(mergeOf(await twoSides(store)))).toBe("done");
      expect((await admit(store, "h1"))?.user.attributes).toEqual({ plan: "pro" });
      await mint(store, "h2", "u2");
      const { visitor, account } = await store.readIdentity(SLUG, "h2", "kim");
      if (visitor === null || account === null) throw new Error("Cannot set up a merge: a side is missing");
      const result = { ...account, attributes: { plan: "free", seats: 2 } };
      const merge = { slug: SLUG, tokenHash: "h2", from: visitor.user, into: account, result };
      expect(await store.merge({ ...merge, snapshot: "bound" })).toBe("done");
      expect(await store.findUser(SLUG, "kim")).toEqual(result);
    });

    it("merge() is `changed` where the account's attributes were replaced meanwhile", async () => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      await admitCaller(store, { attributes: { plan: "pro" } });
      expect(await store.merge(mergeOf(sides))).toBe("changed");
      expect((await store.findUser(SLUG, "kim"))?.attributes).toEqual({ plan: "pro" });
    });

    it("a name that both sides have: the account's thread keeps it, the other is reached as NAME~2", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await admitCaller(store, { thread: { name: "same", newUid: "t-account" }, atMs: 10 });
      await admitCaller(store, { thread: { name: "both", newUid: "t-both-account" }, atMs: 11 });
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "same", uid: "t-anonymous", atMs: 20 });
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "both", uid: "t-both", atMs: 21 });
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "both~2", uid: "t-both-2", atMs: 22 });
      const { visitor, account } = await store.readIdentity(SLUG, "h1", "kim");
      if (visitor === null || account === null) throw new Error("Cannot set up a merge: a side is missing");
      expect(await store.merge(mergeOf({ from: visitor.user, into: account }))).toBe("done");
      const names = (await store.threads(SLUG, "u-kim")).map((thread) => [thread.threadId, thread.uid]);
      // The alias is NAME~K with the smallest K from 2 that neither side has: a name without a rival is never touched.
      expect(names).toEqual([
        ["same", "t-account"],
        ["both", "t-both-account"],
        ["same~2", "t-anonymous"],
        ["both~3", "t-both"],
        ["both~2", "t-both-2"],
      ]);
      // For the visitor's token, and for no other, the two names change places.
      const uidFor = async (token: string, name: string) => (await admit(store, token, name))?.threadUid;
      expect(await uidFor("h1", "same")).toBe("t-anonymous");
      expect(await uidFor("h1", "same~2")).toBe("t-account");
      expect(await uidFor("h1", "both~2")).toBe("t-both-2");
      expect(await store.renamedThreads(SLUG, "h1")).toEqual(
        expect.arrayContaining([
          { said: "same", stored: "same~2" },
          { said: "both~3", stored: "both" },
        ]),
      );
      const caller = await admitCaller(store, { thread: { name: "same", newUid: null } });
      expect(caller?.threadUid).toBe("t-account");
      await mint(store, "h2", "u2");
      const other = await store.readIdentity(SLUG, "h2", "kim");
      if (other.visitor === null || other.account === null)
        throw new Error("Cannot set up a merge: a side is missing");
      const merge = { slug: SLUG, tokenHash: "h2", from: other.visitor.user, into: other.account };
      expect(await store.merge({ ...merge, result: other.account, snapshot: "bound" })).toBe("done");
      expect(await uidFor("h2", "same")).toBe("t-account");
      expect(await store.renamedThreads(SLUG, "h2")).toEqual([]);
      // And for the token that takes its place.
      const rotation = { slug: SLUG, tokenHash: "h1", userId: "u-kim", newTokenHash: "h3", ttlMs: 60_000 };
      expect(await store.rotateToken(rotation)).toBe(true);
      expect(await uidFor("h3", "same")).toBe("t-anonymous");
    });

    it.each([
      ["the anonymous user", "u1"],
      ["the account", "u-kim"],
    ])("P12: merge() is `changed` where %s was blocked meanwhile", async (_, userId) => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      await store.flagUser(SLUG, userId, { blocked: true });
      expect(await store.merge(mergeOf(sides))).toBe("changed");
      expect(await store.threads(SLUG, "u1")).toHaveLength(1);
      expect((await admit(store, "h1"))?.user.userId).toBe("u1");
      expect((await store.findUser(SLUG, userId))?.blocked).toBe(true);
    });

    it("merge() is `changed` where the token is another's, unknown, or was used for it already", async () => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      await mint(store, "h2", "u2");
      expect(await store.merge({ ...mergeOf(sides), tokenHash: "h2" })).toBe("changed");
      expect(await store.merge({ ...mergeOf(sides), tokenHash: "h3" })).toBe("changed");
      expect(await store.merge(mergeOf(sides))).toBe("done");
      expect(await store.merge(mergeOf(sides))).toBe("changed");
    });

    it("P10: a merge outlives the process whole", async () => {
      const { store, reopen } = bench.it;
      const sides = await twoSides(store);
      await store.merge(mergeOf(sides));
      const again = await reopen();
      expect(await again.users(SLUG)).toEqual([sides.into]);
      expect((await admit(again, "h1", "mine"))?.threadUid).toBe("t1");
    });
  });
}
