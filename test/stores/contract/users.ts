import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Bench } from "./contract.ts";
import { DAY, LIFETIME_MS, SLUG, sampleChannel } from "../samples.ts";
import { addThread, admit, admitCaller, merged, mint, rotate } from "../users.ts";

export function userPromises(bench: Bench): void {
  describe("visitors and users", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel({ accessMode: "whitelist" })));

    it("mintVisitor() makes an anonymous user whom the token admits, in its channel", async () => {
      const { store } = bench.it;
      await store.putChannel(sampleChannel({ slug: "other" }));
      expect(await admit(store, "h1")).toBeNull();
      await mint(store, "h1", "u1");
      expect(await admit(store, "h1")).toEqual({
        user: { userId: "u1", externalId: null, displayName: null, blocked: false, whitelisted: false },
        snapshot: "token of u1",
        channel: { enabled: true, accessMode: "whitelist" },
        threadUid: null,
      });
      const elsewhere = { slug: "other", tokenHash: "h1", ttlMs: 60_000, threadId: null };
      expect(await store.admitVisitor(elsewhere)).toBeNull();
      expect((await store.readIdentity("other", "h1", "kim")).visitor).toBeNull();
    });

    it("P16: a token with an end of its own lives no longer, whatever its use", async () => {
      const { store } = bench.it;
      const visitor = { slug: SLUG, snapshot: "token", ttlMs: 60_000, atMs: 1_000 };
      await store.mintVisitor({ ...visitor, tokenHash: "over", userId: "u1", endsAtMs: 1_000 });
      expect(await admit(store, "over")).toBeNull();
      await store.mintVisitor({ ...visitor, tokenHash: "open", userId: "u2", endsAtMs: 9_000_000_000_000 });
      expect(await admit(store, "open")).toMatchObject({ endsAtMs: 9_000_000_000_000 });
    });

    it("P16: admitVisitor() slides the token's lifetime, readIdentity() and promote() do not; unused for longer it is gone", async () => {
      const { store, elapse } = bench.it;
      const visitorOf = async (token: string) => (await store.readIdentity(SLUG, token, "kim")).visitor;
      for (const nth of [1, 2, 3]) await mint(store, `h${nth}`, `u${nth}`, 1_000, LIFETIME_MS);
      await elapse(0.6 * LIFETIME_MS);
      expect(await admit(store, "h1", null, LIFETIME_MS)).not.toBeNull();
      const promotion = { slug: SLUG, tokenHash: "h3", externalId: "kim", snapshot: "bound" };
      const user = (await visitorOf("h3"))?.user;
      expect(user && (await store.promote({ ...promotion, user }))).toBe("done");
      await elapse(0.7 * LIFETIME_MS);
      expect(await admit(store, "h1", null, LIFETIME_MS)).not.toBeNull();
      expect([await visitorOf("h2"), await admit(store, "h3")]).toEqual([null, null]);
      await elapse(1.3 * LIFETIME_MS);
      expect([await admit(store, "h1"), await store.hasValidToken(SLUG, "u1")]).toEqual([null, false]);
      // Users and threads outlive their tokens.
      expect(await store.findUser(SLUG, "u1")).not.toBeNull();
    });

    it("P16: rotateToken() and revokeTokens() end a token at once, and none that comes later", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await mint(store, "other", "u2");
      expect(await rotate(store, "h1", "h2", "another")).toBe(false);
      expect(await rotate(store, "h1", "h2")).toBe(true);
      expect(await rotate(store, "h1", "h3")).toBe(false);
      expect(await admit(store, "h1")).toBeNull();
      expect(await admit(store, "h2")).toMatchObject({ user: { userId: "u1" }, snapshot: "token of u1" });
      expect(await store.revokeTokens(SLUG, "nobody")).toBe(false);
      expect(await store.revokeTokens(SLUG, "u1")).toBe(true);
      expect([await admit(store, "h2"), await rotate(store, "h2", "h4")]).toEqual([null, false]);
      expect(await admit(store, "other")).not.toBeNull();
    });

    it("onTokenRotated() calls back with the hash of a token that any instance rotated, until it is stopped", async () => {
      const { store, another } = bench.it;
      // Of the embedded store there is one instance alone.
      const other = (store.kind === "embedded" ? null : await another()) ?? store;
      const [stopped, told] = [vi.fn<(tokenHash: string) => void>(), vi.fn<(tokenHash: string) => void>()];
      const stop = store.onTokenRotated(stopped);
      store.onTokenRotated(told);
      await mint(store, "h1", "u1");
      await rotate(other, "h1", "h2");
      await vi.waitFor(() => expect(told).toHaveBeenCalledWith("h1"), { timeout: 60_000 });
      stop();
      const calls = stopped.mock.calls.length;
      await rotate(other, "h2", "h4");
      await vi.waitFor(() => expect(told).toHaveBeenLastCalledWith("h2"), { timeout: 60_000 });
      expect(stopped).toHaveBeenCalledTimes(calls);
    });

    it("P14: a thread's name leads to its uid for its user alone", async () => {
      const { store } = bench.it;
      for (const nth of [1, 2]) await mint(store, `h${nth}`, `u${nth}`);
      expect(await addThread(store, "u1", "t1", 1, "n1")).toBe(true);
      expect((await admit(store, "h1", "n1"))?.threadUid).toBe("t1");
      for (const [token, name] of [
        ["h1", "n2"],
        ["h2", "n1"],
        ["h1", "x".repeat(5_000)],
      ] as const) {
        expect((await admit(store, token, name))?.threadUid).toBeNull();
      }
    });

    it("P12: admitUser() makes no thread for a user who is blocked or not whitelisted, or in a disabled channel; the next call sees what changed", async () => {
      const { store } = bench.it;
      const asked = { thread: { name: "n1", newUid: "t1" }, displayName: "Kim" };
      const uid = async () => (await admitCaller(store, asked))?.threadUid;
      expect(await uid()).toBeNull();
      await store.putChannel(sampleChannel({ enabled: false }));
      expect(await uid()).toBeNull();
      await store.putChannel(sampleChannel());
      expect(await store.flagUser(SLUG, "u-kim", { blocked: true })).toMatchObject({ displayName: "Kim" });
      expect(await uid()).toBeNull();
      expect(await store.threads(SLUG, "u-kim")).toEqual([]);
      await store.flagUser(SLUG, "u-kim", { blocked: false });
      expect(await uid()).toBe("t1");
    });

    it("dropSilentVisitor() drops an anonymous user without flags and threads, and no other", async () => {
      const { store } = bench.it;
      for (const id of ["silent", "spoke", "blocked", "whitelisted", "named"])
        await mint(store, `h-${id}`, id);
      await addThread(store, "spoke", "t");
      await store.flagUser(SLUG, "blocked", { blocked: true });
      await store.flagUser(SLUG, "whitelisted", { whitelisted: true });
      const { visitor } = await store.readIdentity(SLUG, "h-named", "kim");
      const promotion = { slug: SLUG, tokenHash: "h-named", externalId: "kim", snapshot: "bound" };
      expect(visitor && (await store.promote({ ...promotion, user: visitor.user }))).toBe("done");
      await store.spendTokens({ slug: SLUG, userId: "silent", day: DAY, tokens: 5 });
      for (const id of ["spoke", "blocked", "whitelisted", "named", "nobody"]) {
        expect([id, await store.dropSilentVisitor(SLUG, id)]).toEqual([id, false]);
      }
      expect(await store.dropSilentVisitor(SLUG, "silent")).toBe(true);
      expect(await store.users(SLUG)).toHaveLength(4);
      // What held its token is a stranger, makes no thread any more, and leaves nothing to who has its id next.
      expect(await admit(store, "h-silent")).toBeNull();
      expect(await addThread(store, "silent", "late")).toBe(false);
      await mint(store, "h-next", "silent");
      expect(await store.spentTokens(SLUG, "silent", DAY)).toBe(0);
    });

    it("findUser() takes a user id or an external id of the channel; the user id wins", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "kim");
      await admitCaller(store);
      expect((await store.findUser(SLUG, "kim"))?.userId).toBe("kim");
      expect((await store.findUser(SLUG, "u-kim"))?.externalId).toBe("kim");
      expect(await store.findUser("nowhere", "kim")).toBeNull();
      for (const slug of ["nowhere", "a\u0000{b}"]) expect(await admitCaller(store, { slug })).toBeNull();
      expect(await store.users("nowhere")).toEqual([]);
    });

    it("users() and threads() are listed oldest first, whatever the order in which they came", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "z", 30);
      await admitCaller(store, { atMs: 10 });
      expect((await store.users(SLUG)).map(({ userId }) => userId)).toEqual(["u-kim", "z"]);
      for (const [uid, atMs] of [
        ["b", 1_000],
        ["a", 2_000],
        ["c", 500],
      ] as const) {
        await addThread(store, "z", uid, atMs);
      }
      expect((await store.threads(SLUG, "z")).map(({ uid }) => uid)).toEqual(["c", "b", "a"]);
    });

    it("P35: what is counted late for the day before counts there, and costs the present day nothing; a merge adds both sides", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await admitCaller(store);
      const spend = (userId: string, day: string, tokens: number) =>
        store.spendTokens({ slug: SLUG, userId, day, tokens });
      for (const day of ["2026-11-20", "2026-11-22", DAY, "2026-11-22", DAY]) await spend("u1", day, 10);
      await spend("u-kim", DAY, 7);
      expect(await store.spentTokens(SLUG, "u1", DAY)).toBe(20);
      expect(await store.spentTokens(SLUG, "u1", "2026-11-22")).toBe(20);
      await merged(store);
      // A run of before the merge still says the old name.
      await spend("u1", DAY, 8);
      for (const id of ["u1", "u-kim"]) expect(await store.spentTokens(SLUG, id, DAY)).toBe(35);
    });
  });
}
