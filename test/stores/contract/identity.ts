import { beforeEach, describe, expect, it } from "vitest";
import type { User } from "../../../src/domain/people/user.ts";
import type { Store } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { DAY, SLUG, sampleChannel } from "../samples.ts";
import { addThread, admit, admitCaller, merged, mint, rotate, sidesOf } from "../users.ts";

const anonymous: User = {
  userId: "u1",
  externalId: null,
  displayName: null,
  blocked: false,
  whitelisted: false,
};
const promotion = { slug: SLUG, tokenHash: "h1", externalId: "kim", user: anonymous, snapshot: "bound" };

/** An anonymous visitor u1 with a thread, and the account u-kim with one. */
async function twoSides(store: Store) {
  await mint(store, "h1", "u1");
  await addThread(store, "u1", "t1", 20, "mine");
  await admitCaller(store, { thread: { name: "yours", newUid: "t2" }, atMs: 10 });
  return sidesOf(store);
}

export function identityPromises(bench: Bench): void {
  describe("identity", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel()));

    it("promote() makes the anonymous user the account, with its threads and its token", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await addThread(store, "u1", "t1", 20, "mine");
      expect(await store.readIdentity(SLUG, "h1", "kim")).toEqual({
        visitor: { user: anonymous, snapshot: "token of u1" },
        account: null,
      });
      expect(await store.promote(promotion)).toBe("done");
      const account = { ...anonymous, externalId: "kim" };
      expect(await store.readIdentity(SLUG, "h1", "kim")).toEqual({
        visitor: { user: account, snapshot: "bound" },
        account,
      });
      expect((await admit(store, "h1", "mine"))?.threadUid).toBe("t1");
      expect((await admitCaller(store))?.user).toEqual(account);
    });

    it("P10: merge() moves threads and token to the account, and deletes the anonymous record", async () => {
      const { store, reopen } = bench.it;
      const sides = await twoSides(store);
      expect(await store.merge(sides)).toBe("done");
      expect(await store.threads(SLUG, "u-kim")).toEqual([
        { uid: "t2", threadId: "yours", createdAtMs: 10 },
        { uid: "t1", threadId: "mine", createdAtMs: 20 },
      ]);
      const called = await admitCaller(store, { thread: { name: "mine", newUid: "t9" } });
      expect(called?.threadUid).toBe("t1");
      expect([await store.findUser(SLUG, "u1"), await store.threads(SLUG, "u1")]).toEqual([null, []]);
      expect(await addThread(store, "u1", "t3")).toBe(false);
      expect(await store.flagUser(SLUG, "u1", { blocked: true })).toBeNull();
      const again = await reopen();
      expect(await again.users(SLUG)).toEqual([sides.into]);
      expect(await admit(again, "h1", "mine")).toMatchObject({
        user: sides.into,
        snapshot: "bound",
        threadUid: "t1",
      });
    });

    it("P35: after a merge the anonymous user's name still leads to the account's tokens, for two days", async () => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 30 });
      expect(await store.merge(sides)).toBe("done");
      expect(await store.spentTokens(SLUG, "u1", DAY)).toBe(30);
      expect(await store.spentTokens(SLUG, "u-kim", DAY)).toBe(30);
    });

    it("P16: a token that is merged into an account whose tokens were revoked is one of its new ones", async () => {
      const { store } = bench.it;
      await twoSides(store);
      await store.revokeTokens(SLUG, "u-kim");
      await merged(store);
      expect(await admit(store, "h1")).toMatchObject({ user: { userId: "u-kim" } });
      const changes = await store.changeCount();
      await store.revokeTokens(SLUG, "u-kim");
      expect(await admit(store, "h1")).toBeNull();
      // Every instance is told: feeds of the user's are open somewhere.
      expect(await store.changeCount()).toBeGreaterThan(changes);
    });

    it("a name that both sides have: the account's thread keeps it, the other is reached as NAME~2", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await admitCaller(store, { thread: { name: "same", newUid: "t-account" }, atMs: 10 });
      await admitCaller(store, { thread: { name: "both", newUid: "t-both-account" }, atMs: 11 });
      await addThread(store, "u1", "t-anonymous", 20, "same");
      await addThread(store, "u1", "t-both", 21, "both");
      await addThread(store, "u1", "t-both-2", 22, "both~2");
      await merged(store);
      // The alias is NAME~K with the smallest K from 2 that neither side has: a name without a rival is never touched.
      expect((await store.threads(SLUG, "u-kim")).map(({ threadId, uid }) => [threadId, uid])).toEqual([
        ["same", "t-account"],
        ["both", "t-both-account"],
        ["same~2", "t-anonymous"],
        ["both~3", "t-both"],
        ["both~2", "t-both-2"],
      ]);
      // For the visitor's token, and for the one that takes its place, the two names change places; for no other.
      const uidFor = async (token: string, name: string) => (await admit(store, token, name))?.threadUid;
      expect(await uidFor("h1", "same")).toBe("t-anonymous");
      expect(await uidFor("h1", "same~2")).toBe("t-account");
      expect(await uidFor("h1", "both~2")).toBe("t-both-2");
      await mint(store, "h2", "u2");
      await merged(store, "h2");
      expect(await uidFor("h2", "same")).toBe("t-account");
      expect(await rotate(store, "h1", "h3", "u-kim")).toBe(true);
      expect(await uidFor("h3", "same")).toBe("t-anonymous");
    });

    it.each([
      ["the anonymous user was blocked", (store: Store) => store.flagUser(SLUG, "u1", { blocked: true })],
      ["the account was blocked", (store: Store) => store.flagUser(SLUG, "u-kim", { blocked: true })],
      [
        "the account's attributes were replaced",
        (store: Store) => admitCaller(store, { attributes: { a: 1 } }),
      ],
    ])("P11, P12: merge() is `changed`, and changes nothing, where %s meanwhile", async (_, meanwhile) => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      await meanwhile(store);
      expect(await store.merge(sides)).toBe("changed");
      expect(await store.threads(SLUG, "u1")).toHaveLength(1);
      expect((await admit(store, "h1"))?.user.userId).toBe("u1");
    });

    it("P10: promote() and merge() are `changed` where the user's tokens were revoked meanwhile", async () => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      await store.revokeTokens(SLUG, "u1");
      expect(await store.merge(sides)).toBe("changed");
      expect(await store.promote({ ...promotion, user: sides.from, externalId: "lu" })).toBe("changed");
      expect(await store.threads(SLUG, "u1")).toHaveLength(1);
      expect(await store.findUser(SLUG, "lu")).toBeNull();
    });

    it("promote() and merge() are `changed` where the token is another's, unknown, or was used for it already", async () => {
      const { store } = bench.it;
      const sides = await twoSides(store);
      await mint(store, "h2", "u2");
      for (const tokenHash of ["h2", "h3"]) {
        expect(await store.merge({ ...sides, tokenHash })).toBe("changed");
        expect(await store.promote({ ...promotion, externalId: "lu", tokenHash })).toBe("changed");
      }
      expect(await store.promote(promotion)).toBe("changed");
      expect(await store.merge(sides)).toBe("done");
      expect(await store.merge(sides)).toBe("changed");
    });
  });
}
