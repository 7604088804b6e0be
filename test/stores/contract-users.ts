import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Store } from "../../src/store.ts";
import type { Bench } from "./contract.ts";
import { DAY, LIFETIME_MS, SLUG, sampleChannel } from "./samples.ts";

export function mint(
  store: Store,
  tokenHash: string,
  userId: string,
  atMs = 1_000,
  ttlMs = 60_000,
): Promise<void> {
  return store.mintVisitor({
    slug: SLUG,
    tokenHash,
    userId,
    snapshot: `token of ${userId}`,
    ttlMs,
    atMs,
  });
}

export function admit(store: Store, tokenHash: string, threadId: string | null = null, ttlMs = 60_000) {
  return store.admitVisitor({ slug: SLUG, tokenHash, ttlMs, threadId });
}

type Caller = Parameters<Store["admitUser"]>[0];

export function admitCaller(store: Store, changes: Partial<Caller> = {}) {
  return store.admitUser({
    slug: SLUG,
    externalId: "kim",
    displayName: null,
    newUserId: "u-kim",
    thread: null,
    creates: true,
    atMs: 1_000,
    ...changes,
  });
}

export function userPromises(bench: Bench): void {
  describe("visitors and users", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel({ accessMode: "whitelist" })));

    it("mintVisitor() makes an anonymous user whom the token admits", async () => {
      const { store } = bench.it;
      expect(await admit(store, "h1")).toBeNull();
      await mint(store, "h1", "u1");
      expect(await admit(store, "h1")).toEqual({
        user: { userId: "u1", externalId: null, displayName: null, blocked: false, whitelisted: false },
        snapshot: "token of u1",
        channel: { enabled: true, accessMode: "whitelist" },
        threadUid: null,
      });
    });

    it("a token is of one channel", async () => {
      const { store } = bench.it;
      await store.putChannel(sampleChannel({ slug: "other" }));
      await mint(store, "h1", "u1");
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
      await mint(store, "unended", "u3");
      expect(await admit(store, "unended")).not.toHaveProperty("endsAtMs");
    });

    it("P16: rotateToken() puts a new token in the place of one that is the user's, once", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      const rotation = { slug: SLUG, tokenHash: "h1", newTokenHash: "h2", ttlMs: 60_000 };
      expect(await store.rotateToken({ ...rotation, userId: "another" })).toBe(false);
      expect(await admit(store, "h1")).not.toBeNull();
      expect(await store.rotateToken({ ...rotation, userId: "u1" })).toBe(true);
      expect(await admit(store, "h1")).toBeNull();
      expect(await admit(store, "h2")).toMatchObject({ user: { userId: "u1" }, snapshot: "token of u1" });
      expect(await store.rotateToken({ ...rotation, userId: "u1", newTokenHash: "h3" })).toBe(false);
      expect(await admit(store, "h3")).toBeNull();
    });

    it("onTokenRotated() calls back with the hash of a token that any instance rotated, until it is stopped", async () => {
      const { store, another } = bench.it;
      // Of the embedded store there is one instance alone.
      const other = (store.kind === "embedded" ? null : await another()) ?? store;
      const [stopped, told] = [vi.fn<(tokenHash: string) => void>(), vi.fn<(tokenHash: string) => void>()];
      const stop = store.onTokenRotated(stopped);
      store.onTokenRotated(told);
      await mint(store, "h1", "u1");
      const rotation = { slug: SLUG, userId: "u1", ttlMs: 60_000 };
      await other.rotateToken({ ...rotation, tokenHash: "h1", newTokenHash: "h2" });
      await vi.waitFor(() => expect(told).toHaveBeenCalledWith("h1"), { timeout: 60_000 });
      stop();
      const calls = stopped.mock.calls.length;
      expect(await other.rotateToken({ ...rotation, tokenHash: "h1", newTokenHash: "h3" })).toBe(false);
      await other.rotateToken({ ...rotation, tokenHash: "h2", newTokenHash: "h4" });
      await vi.waitFor(() => expect(told).toHaveBeenLastCalledWith("h2"), { timeout: 60_000 });
      expect(stopped).toHaveBeenCalledTimes(calls);
    });

    it("P16: revokeTokens() ends all tokens that a user has, and none that it gets later", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await mint(store, "h2", "u2");
      expect(await store.revokeTokens(SLUG, "u1")).toBe(true);
      expect(await store.revokeTokens(SLUG, "nobody")).toBe(false);
      expect(await admit(store, "h1")).toBeNull();
      expect((await store.readIdentity(SLUG, "h1", "kim")).visitor).toBeNull();
      const rotation = { slug: SLUG, tokenHash: "h1", newTokenHash: "h3", ttlMs: 60_000, userId: "u1" };
      expect(await store.rotateToken(rotation)).toBe(false);
      expect(await admit(store, "h2")).not.toBeNull();
    });

    it("P16: admitVisitor() slides the token's lifetime; unused for longer it is gone", async () => {
      const { store, elapse } = bench.it;
      await mint(store, "h1", "u1", 1_000, LIFETIME_MS);
      for (let use = 0; use < 2; use++) {
        await elapse(0.6 * LIFETIME_MS);
        expect(await admit(store, "h1", null, LIFETIME_MS)).not.toBeNull();
      }
      await elapse(1.3 * LIFETIME_MS);
      expect(await admit(store, "h1", null, LIFETIME_MS)).toBeNull();
      expect((await store.readIdentity(SLUG, "h1", "kim")).visitor).toBeNull();
      // Users and threads outlive their tokens.
      expect(await store.findUser(SLUG, "u1")).not.toBeNull();
    });

    it("admitVisitor() answers the state of the channel as it is now", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await store.putChannel(sampleChannel({ enabled: false }));
      expect((await admit(store, "h1"))?.channel).toEqual({ enabled: false, accessMode: "open" });
      expect((await admitCaller(store))?.channel).toEqual({ enabled: false, accessMode: "open" });
    });

    it("P14: a thread's name leads to its uid for its user alone", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await mint(store, "h2", "u2");
      expect(await store.addThread({ slug: SLUG, userId: "u1", threadId: "n1", uid: "t1", atMs: 1 })).toBe(
        true,
      );
      expect((await admit(store, "h1", "n1"))?.threadUid).toBe("t1");
      expect((await admit(store, "h1", "n2"))?.threadUid).toBeNull();
      expect((await admit(store, "h2", "n1"))?.threadUid).toBeNull();
      expect((await admit(store, "h1", "x".repeat(5_000)))?.threadUid).toBeNull();
    });

    it.each([
      ["blocked", { accessMode: "open" }, { blocked: true }],
      ["not whitelisted", { accessMode: "whitelist" }, {}],
      ["of a disabled channel", { enabled: false, accessMode: "open" }, {}],
    ] as const)("admitUser() makes no thread for a user who is %s", async (_, channel, flags) => {
      const { store } = bench.it;
      await admitCaller(store);
      await store.flagUser(SLUG, "u-kim", flags);
      await store.putChannel(sampleChannel(channel));
      const refused = { thread: { name: "n1", newUid: "t1" }, displayName: "Kim" };
      expect(await admitCaller(store, refused)).toMatchObject({
        user: { displayName: "Kim" },
        threadUid: null,
      });
      expect(await store.threads(SLUG, "u-kim")).toEqual([]);
      await store.flagUser(SLUG, "u-kim", { blocked: false });
      await store.putChannel(sampleChannel({ accessMode: "open" }));
      expect((await admitCaller(store, refused))?.threadUid).toBe("t1");
      await store.putChannel(sampleChannel({ enabled: false }));
      expect((await admitCaller(store, refused))?.threadUid).toBe("t1");
    });

    it("dropSilentVisitor() drops an anonymous user without flags and threads, and no other", async () => {
      const { store } = bench.it;
      for (const name of ["silent", "spoke", "blocked", "whitelisted", "named"])
        await mint(store, `h-${name}`, name);
      const spoke = { slug: SLUG, userId: "spoke", threadId: "n", uid: "t", atMs: 1 };
      await store.addThread(spoke);
      await store.flagUser(SLUG, "blocked", { blocked: true });
      await store.flagUser(SLUG, "whitelisted", { whitelisted: true });
      const { visitor } = await store.readIdentity(SLUG, "h-named", "kim");
      if (visitor === null) throw new Error("Cannot set up a promotion: there is no visitor");
      const promotion = { slug: SLUG, tokenHash: "h-named", externalId: "kim", user: visitor.user };
      expect(await store.promote({ ...promotion, snapshot: "bound" })).toBe("done");
      for (const name of ["spoke", "blocked", "whitelisted", "named", "nobody"])
        expect(await store.dropSilentVisitor(SLUG, name)).toBe(false);
      expect(await store.dropSilentVisitor(SLUG, "silent")).toBe(true);
      expect(await store.dropSilentVisitor(SLUG, "silent")).toBe(false);
      expect((await store.users(SLUG)).map(({ userId }) => userId).sort()).toEqual([
        "blocked",
        "named",
        "spoke",
        "whitelisted",
      ]);
      // What held its token is a stranger, and makes no thread any more.
      expect(await admit(store, "h-silent")).toBeNull();
      expect(await store.addThread({ ...spoke, userId: "silent" })).toBe(false);
      expect((await admit(store, "h-spoke", "n"))?.threadUid).toBe("t");
    });

    it("addThread() may be repeated, and is false where the user is gone", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      const thread = { slug: SLUG, userId: "u1", threadId: "n1", uid: "t1", atMs: 1 };
      expect(await store.addThread(thread)).toBe(true);
      expect(await store.addThread(thread)).toBe(true);
      expect(await store.threads(SLUG, "u1")).toEqual([{ uid: "t1", threadId: "n1", createdAtMs: 1 }]);
      expect(await store.addThread({ ...thread, userId: "nobody" })).toBe(false);
      expect(await store.threads(SLUG, "nobody")).toEqual([]);
    });

    it("admitUser() creates the user at the first use, and knows it afterwards", async () => {
      const { store } = bench.it;
      const user = {
        userId: "u-kim",
        externalId: "kim",
        displayName: "Kim",
        blocked: false,
        whitelisted: false,
      };
      const first = await admitCaller(store, { displayName: "Kim" });
      expect(first).toEqual({
        user,
        channel: { enabled: true, accessMode: "whitelist" },
        threadUid: null,
      });
      expect((await admitCaller(store, { newUserId: "u-other" }))?.user).toEqual(user);
      expect(await store.findUser(SLUG, "u-other")).toBeNull();
    });

    it("admitUser() keeps the name of a user who comes without one, also with a new thread", async () => {
      const { store } = bench.it;
      await admitCaller(store, { displayName: "Kim" });
      const thread = { name: "n1", newUid: "t1" };
      expect((await admitCaller(store, { thread }))?.user.displayName).toBe("Kim");
      expect((await admitCaller(store))?.user.displayName).toBe("Kim");
      expect((await store.findUser(SLUG, "kim"))?.displayName).toBe("Kim");
      expect((await admitCaller(store, { displayName: "Kimberly", thread }))?.user.displayName).toBe(
        "Kimberly",
      );
    });

    it("admitUser() called twice at once creates one user", async () => {
      const { store } = bench.it;
      const [one, two] = await Promise.all([
        admitCaller(store, { newUserId: "u-a" }),
        admitCaller(store, { newUserId: "u-b" }),
      ]);
      expect(one?.user).toEqual(two?.user);
      expect(await store.users(SLUG)).toHaveLength(1);
    });

    it("a later displayName replaces the stored one; none keeps it", async () => {
      const { store } = bench.it;
      await admitCaller(store, { displayName: "Kim" });
      expect((await admitCaller(store, { displayName: "Kim K." }))?.user.displayName).toBe("Kim K.");
      expect((await admitCaller(store))?.user.displayName).toBe("Kim K.");
      expect((await store.findUser(SLUG, "kim"))?.displayName).toBe("Kim K.");
    });

    it("attributes are kept until others replace them whole; none keeps them, an empty map removes them", async () => {
      const { store, reopen } = bench.it;
      const attributes = { plan: "pro", "seats \u2028 Ü": 3.5, trial: false, __proto: "" };
      await admitCaller(store, { attributes });
      expect((await admitCaller(store))?.user.attributes).toEqual(attributes);
      expect((await admitCaller(store, { displayName: "Kim" }))?.user.attributes).toEqual(attributes);
      const replaced = await admitCaller(store, { attributes: { plan: "free" } });
      expect(replaced?.user).toMatchObject({ displayName: "Kim", attributes: { plan: "free" } });
      expect((await store.flagUser(SLUG, "u-kim", { blocked: true }))?.attributes).toEqual({ plan: "free" });
      const again = await reopen();
      expect((await again.findUser(SLUG, "kim"))?.attributes).toEqual({ plan: "free" });
      expect((await again.users(SLUG)).map((user) => user.attributes)).toEqual([{ plan: "free" }]);
      expect((await admitCaller(again, { attributes: {} }))?.user).not.toHaveProperty("attributes");
      expect(await again.findUser(SLUG, "kim")).not.toHaveProperty("attributes");
    });

    it("a new user is made with attributes; with an empty map, or with creates false, without", async () => {
      const { store } = bench.it;
      const asked = { attributes: { plan: "pro" }, creates: false };
      expect(await admitCaller(store, asked)).toBeNull();
      expect((await admitCaller(store, { attributes: { plan: "pro" } }))?.user.attributes).toEqual({
        plan: "pro",
      });
      const other = { externalId: "lu", newUserId: "u-lu" };
      expect((await admitCaller(store, { ...other, attributes: {} }))?.user).not.toHaveProperty("attributes");
      await admitCaller(store, { ...other, ...asked });
      expect(await store.findUser(SLUG, "lu")).not.toHaveProperty("attributes");
    });

    it("admitUser() knows no channel that does not exist, and creates nobody there", async () => {
      const { store } = bench.it;
      expect(await admitCaller(store, { slug: "nowhere" })).toBeNull();
      expect(await admitCaller(store, { slug: "a\u0000{b}" })).toBeNull();
      expect(await store.users("nowhere")).toEqual([]);
    });

    it("admitUser() gives a new thread name the new uid, and keeps it", async () => {
      const { store } = bench.it;
      await store.putChannel(sampleChannel());
      const first = await admitCaller(store, { thread: { name: "Über 👋", newUid: "t1" }, atMs: 7 });
      expect(first?.threadUid).toBe("t1");
      const again = await admitCaller(store, { thread: { name: "Über 👋", newUid: "t2" }, atMs: 8 });
      expect(again?.threadUid).toBe("t1");
      expect(await store.threads(SLUG, "u-kim")).toEqual([
        { uid: "t1", threadId: "Über 👋", createdAtMs: 7 },
      ]);
    });

    it("newUid null asks for a thread without creating it", async () => {
      const { store } = bench.it;
      await store.putChannel(sampleChannel());
      expect((await admitCaller(store, { thread: { name: "n", newUid: null } }))?.threadUid).toBeNull();
      await admitCaller(store, { thread: { name: "n", newUid: "t1" } });
      expect((await admitCaller(store, { thread: { name: "n", newUid: null } }))?.threadUid).toBe("t1");
    });

    it("creates false changes nothing, and is null where the user is unknown", async () => {
      const { store } = bench.it;
      expect(await admitCaller(store, { creates: false })).toBeNull();
      expect(await store.users(SLUG)).toEqual([]);
      await admitCaller(store, { displayName: "Kim" });
      const asked = await admitCaller(store, {
        creates: false,
        displayName: "Other",
        thread: { name: "n", newUid: "t1" },
      });
      expect(asked?.user.displayName).toBe("Kim");
      expect(asked?.threadUid).toBeNull();
      expect(await store.threads(SLUG, "u-kim")).toEqual([]);
    });

    it("P35: countTokens() counts under each name and UTC day", async () => {
      const { store } = bench.it;
      const [one, two] = ["all", "channel shop"];
      await store.countTokens({ names: [one, two], day: DAY, tokens: 30 });
      await store.countTokens({ names: [one], day: DAY, tokens: 12 });
      expect(await store.countedTokens([two, one, "nobody"], DAY)).toEqual([30, 42, 0]);
      expect(await store.countedTokens([one], "2026-11-22")).toEqual([0]);
    });

    it("P35: spendTokens() counts per user and UTC day; for nobody it does nothing", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 30 });
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 12 });
      await store.spendTokens({ slug: SLUG, userId: "nobody", day: DAY, tokens: 5 });
      expect(await store.spentTokens(SLUG, "u1", DAY)).toBe(42);
      expect(await store.spentTokens(SLUG, "u1", "2026-11-22")).toBe(0);
      expect(await store.spentTokens(SLUG, "nobody", DAY)).toBe(0);
      expect(await store.findUser(SLUG, "nobody")).toBeNull();
      await admitCaller(store);
      await store.spendTokens({ slug: SLUG, userId: "u-kim", day: DAY, tokens: 7 });
      expect(await store.spentTokens(SLUG, "u-kim", DAY)).toBe(7);
    });

    it("P35: what is counted late for the day before counts there, and costs the present day nothing", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      const days = ["2026-11-20", "2026-11-22", "2026-11-21", "2026-11-22", "2026-11-21", "2026-11-20"];
      for (const day of days) await store.spendTokens({ slug: SLUG, userId: "u1", day, tokens: 10 });
      expect(await store.spentTokens(SLUG, "u1", "2026-11-21")).toBe(20);
      expect(await store.spentTokens(SLUG, "u1", "2026-11-22")).toBe(20);
    });

    it("findUser() takes a user id or an external id; the user id wins", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "kim");
      await admitCaller(store);
      expect((await store.findUser(SLUG, "kim"))?.userId).toBe("kim");
      expect((await store.findUser(SLUG, "u-kim"))?.externalId).toBe("kim");
      await admitCaller(store, { externalId: "Łukasz 👋", newUserId: "u-2" });
      expect((await store.findUser(SLUG, "Łukasz 👋"))?.userId).toBe("u-2");
      expect(await store.findUser(SLUG, "nobody")).toBeNull();
      expect(await store.findUser("nowhere", "kim")).toBeNull();
    });

    it("users() and threads() are listed oldest first", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "z", 30);
      await admitCaller(store, { atMs: 10 });
      await mint(store, "h2", "a", 40);
      expect((await store.users(SLUG)).map((user) => user.userId)).toEqual(["u-kim", "z", "a"]);
      await store.addThread({ slug: SLUG, userId: "z", threadId: "b", uid: "t-b", atMs: 1_000 });
      await store.addThread({ slug: SLUG, userId: "z", threadId: "a", uid: "t-a", atMs: 2_000 });
      await store.addThread({ slug: SLUG, userId: "z", threadId: "c", uid: "t-c", atMs: 500 });
      expect((await store.threads(SLUG, "z")).map((thread) => thread.threadId)).toEqual(["c", "b", "a"]);
    });

    it("P12: flagUser() sets the flags it is given and no other, in force with the next admission", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      expect((await store.flagUser(SLUG, "u1", { blocked: true }))?.blocked).toBe(true);
      const both = await store.flagUser(SLUG, "u1", { whitelisted: true });
      expect(both).toMatchObject({ userId: "u1", blocked: true, whitelisted: true });
      expect((await admit(store, "h1"))?.user).toEqual(both);
      expect(await store.flagUser(SLUG, "u1", { blocked: false })).toMatchObject({
        blocked: false,
        whitelisted: true,
      });
      expect(await store.flagUser(SLUG, "nobody", { blocked: true })).toBeNull();
      expect(await store.findUser(SLUG, "nobody")).toBeNull();
    });

    it("P1: users, tokens and thread names outlive the process", async () => {
      const { store, reopen } = bench.it;
      await mint(store, "h1", "u1");
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "n1", uid: "t1", atMs: 1 });
      await store.flagUser(SLUG, "u1", { whitelisted: true });
      await store.spendTokens({ slug: SLUG, userId: "u1", day: DAY, tokens: 3 });
      const before = await admit(store, "h1", "n1");
      expect(before?.threadUid).toBe("t1");
      expect(await admit(await reopen(), "h1", "n1")).toEqual(before);
    });
  });
}
