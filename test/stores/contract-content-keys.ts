import { beforeEach, describe, expect, it } from "vitest";
import type { ContentKeyStore } from "../../src/store.ts";
import type { Bench } from "./contract.ts";
import { admitCaller, mint } from "./contract-users.ts";
import { SLUG, sampleChannel } from "./samples.ts";

const added = { slug: SLUG, userId: "u1", keyId: "shop~u1", wrapped: "enc:v1:k1:AAAA" };

export function contentKeyPromises(bench: Bench): void {
  describe("keys of users", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel()));

    function keys(): ContentKeyStore {
      const { contentKeys } = bench.it.store;
      if (!contentKeys) throw new Error("Cannot keep keys: the store has no place for them");
      return contentKeys;
    }

    it("a user has none at first, and nobody has any who is not there", async () => {
      await mint(bench.it.store, "h1", "u1");
      expect(await keys().keys(SLUG, "u1")).toEqual({});
      expect(await keys().keys(SLUG, "u2")).toBeNull();
      expect(await keys().add({ ...added, userId: "u2" })).toBeNull();
      expect(await keys().replace({ ...added, userId: "u2", was: "x" })).toBe(false);
      expect(await keys().keys(SLUG, "u2")).toBeNull();
      expect(await bench.it.store.findUser(SLUG, "u2")).toBeNull();
    });

    it("of two who add one at once, both get the one that is kept", async () => {
      await mint(bench.it.store, "h1", "u1");
      const another = { ...added, wrapped: "enc:v1:k1:BBBB" };
      const [one, other] = await Promise.all([keys().add(added), keys().add(another)]);
      expect(one).toBe(other);
      expect(await keys().keys(SLUG, "u1")).toEqual({ "shop~u1": one });
    });

    it("replace() changes the key that it names, and no other", async () => {
      await mint(bench.it.store, "h1", "u1");
      await keys().add(added);
      const change = { ...added, was: added.wrapped, wrapped: "enc:v1:k2:CCCC" };
      expect(await keys().replace({ ...change, was: "another" })).toBe(false);
      expect(await keys().replace(change)).toBe(true);
      expect(await keys().replace(change)).toBe(false);
      expect(await keys().keys(SLUG, "u1")).toEqual({ "shop~u1": "enc:v1:k2:CCCC" });
      expect(await keys().replace({ ...change, was: "enc:v1:k2:CCCC", wrapped: null })).toBe(true);
      expect(await keys().keys(SLUG, "u1")).toEqual({});
    });

    it("they stay with the user whatever else of the user changes", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await keys().add(added);
      await store.flagUser(SLUG, "u1", { blocked: true });
      await store.renameUser(SLUG, "u1", "Kim");
      await store.revokeTokens(SLUG, "u1");
      await store.spendTokens({ slug: SLUG, userId: "u1", day: "2026-11-21", tokens: 1 });
      expect(await keys().keys(SLUG, "u1")).toEqual({ "shop~u1": added.wrapped });
      expect((await bench.it.store.findUser(SLUG, "u1"))?.displayName).toBe("Kim");
    });

    it("a merge gives those of both sides to the account", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await admitCaller(store);
      const read = await store.readIdentity(SLUG, "h1", "kim");
      if (!read.visitor || !read.account) throw new Error("Cannot set up a merge: a side is missing");
      const { user: from } = read.visitor;
      const into = read.account;
      await keys().add(added);
      await keys().add({ ...added, userId: into.userId, keyId: "theirs", wrapped: "enc:v1:k1:DDDD" });
      const merge = { slug: SLUG, tokenHash: "h1", from, into, result: into, snapshot: "bound" };
      expect(await store.merge(merge)).toBe("done");
      expect(await keys().keys(SLUG, "u1")).toBeNull();
      expect(await keys().keys(SLUG, into.userId)).toEqual({
        "shop~u1": added.wrapped,
        theirs: "enc:v1:k1:DDDD",
      });
    });

    it("they go with a user who is deleted", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await keys().add(added);
      await store.unlistUser({ kind: "user", slug: SLUG, id: "u1", atMs: 9 });
      expect(await keys().keys(SLUG, "u1")).toBeNull();
      await mint(store, "h2", "u1");
      expect(await keys().keys(SLUG, "u1")).toEqual({});
    });

    it("knows by which keys something was wrapped, the first text of each", async () => {
      expect(await keys().wrappers()).toEqual({});
      await keys().noteWrapper("k1", "one");
      await keys().noteWrapper("k1", "two");
      await keys().noteWrapper("k2", "");
      expect(await keys().wrappers()).toEqual({ k1: "one", k2: "" });
      await keys().forgetWrapper("k1");
      expect(await keys().wrappers()).toEqual({ k2: "" });
    });
  });
}
