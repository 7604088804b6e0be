// For src/visitors/, machines/visitor.ts
import { expect, onTestFinished, test } from "vitest";
import { createVisitors } from "../../src/visitors/visitors.ts";
import { readVisitorToken } from "../../src/domain/people/visitor-token.ts";
import type { TokenClaim } from "../../src/domain/people/visitor-token.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import type { Store } from "../../src/store.ts";
import { SLUG, sampleChannel } from "../stores/samples.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";

const TTL_MS = 1_000;

async function openVisitors(wrap: (store: Store) => Partial<Store> = () => ({})) {
  const time = { nowMs: Date.UTC(2026, 10, 21) };
  const clock = { now: () => time.nowMs, elapsed: () => time.nowMs };
  const store = await openEmbeddedStore({ dataDir: temporaryFolder(), clock });
  onTestFinished(() => store.close());
  await store.putChannel(sampleChannel());
  const visitors = createVisitors({ store: { ...store, ...wrap(store) }, clock, ttlMs: TTL_MS });
  const identify = (visitorToken: string, externalId: string) =>
    visitors.identify({ slug: SLUG, visitorToken, externalId });
  return { time, store, visitors, identify };
}

function claimOf(token: string): TokenClaim {
  const claim = readVisitorToken(token);
  if (!claim) throw new Error(`Cannot read a token: ${token}`);
  return claim;
}

test("P15, P16: a token is 256 random bits that no record holds, and lives exactly its lifetime after a use", async () => {
  const { visitors, time } = await openVisitors();
  const { visitorToken, expiresAt } = await visitors.mint(SLUG);
  expect(visitorToken).toMatch(/^vt_shop_[A-Za-z0-9_-]{43}$/);
  expect(expiresAt).toBe(time.nowMs + TTL_MS);
  expect(claimOf(visitorToken).tokenHash).toMatch(/^[0-9a-f]{64}$/);
  time.nowMs += TTL_MS - 1;
  expect(await visitors.admit(claimOf(visitorToken), null)).toMatchObject({ user: { externalId: null } });
  time.nowMs += TTL_MS - 1;
  expect(await visitors.admit(claimOf(visitorToken), null)).not.toBeNull();
  time.nowMs += TTL_MS + 1;
  expect(await visitors.admit(claimOf(visitorToken), null)).toBeNull();
});

test("identify is no use of the token", async () => {
  const { visitors, identify, time } = await openVisitors();
  const { visitorToken } = await visitors.mint(SLUG);
  time.nowMs += TTL_MS - 1;
  await identify(visitorToken, "acc");
  time.nowMs += 2;
  expect(await visitors.admit(claimOf(visitorToken), null)).toBeNull();
});

test("promote, merge, repeat and conflict", async () => {
  const { visitors, identify, store } = await openVisitors();
  const first = await visitors.mint(SLUG);
  const second = await visitors.mint(SLUG);
  expect(await identify(first.visitorToken, "acc")).toEqual({ userId: first.userId, merged: false });
  expect(await identify(first.visitorToken, "acc")).toEqual({ userId: first.userId, merged: false });
  await store.addThread({ slug: SLUG, userId: second.userId, threadId: "t", uid: "t", atMs: 1 });
  await store.flagUser(SLUG, second.userId, { blocked: true });
  expect(await identify(second.visitorToken, "acc")).toEqual({ userId: first.userId, merged: true });
  expect(await identify(second.visitorToken, "acc")).toEqual({ userId: first.userId, merged: false });
  await expect(identify(second.visitorToken, "other")).rejects.toMatchObject({ reason: "conflict" });
  await expect(identify(first.visitorToken, "other")).rejects.toMatchObject({ reason: "conflict" });
  expect(await visitors.admit(claimOf(second.visitorToken), "t")).toMatchObject({
    user: { userId: first.userId, blocked: true },
    threadUid: "t",
  });
  expect(await store.findUser(SLUG, second.userId)).toBeNull();
});

test("an account that the server API made is merged into", async () => {
  const { visitors, identify, store } = await openVisitors();
  const caller = { slug: SLUG, externalId: "acc", displayName: "Ada", newUserId: "account", thread: null };
  await store.admitUser({ ...caller, creates: true, atMs: 1 });
  const { visitorToken } = await visitors.mint(SLUG);
  expect(await identify(visitorToken, "acc")).toEqual({ userId: "account", merged: true });
});

test("a merge brings what the visitor granted at MCP servers, and the account's own stays", async () => {
  const { visitors, identify, store } = await openVisitors();
  const account = await visitors.mint(SLUG);
  await identify(account.visitorToken, "acc");
  const { userId, visitorToken } = await visitors.mint(SLUG);
  const keep = (of: string, server: string) =>
    store.keepGrant({ slug: SLUG, userId: of, server, text: `${server} of ${of}` });
  await keep(account.userId, "crm");
  await keep(userId, "crm");
  await keep(userId, "mail");
  expect(await identify(visitorToken, "acc")).toMatchObject({ merged: true });
  expect(await store.grant(SLUG, account.userId, "crm")).toBe(`crm of ${account.userId}`);
  expect(await store.grant(SLUG, account.userId, "mail")).toBe(`mail of ${userId}`);
  expect(await store.grantedServers(SLUG, userId)).toEqual([]);
});

test("an unknown, expired, malformed or foreign token is not found", async () => {
  const { visitors, identify, time } = await openVisitors();
  const { visitorToken } = await visitors.mint(SLUG);
  const foreign = visitors.identify({ slug: "other", visitorToken, externalId: "a" });
  await expect(foreign).rejects.toMatchObject({ reason: "not-found" });
  time.nowMs += TTL_MS + 1;
  for (const token of [visitorToken, `vt_shop_${"A".repeat(43)}`, "nonsense", ""]) {
    await expect(identify(token, "a")).rejects.toMatchObject({ reason: "not-found" });
  }
});

test("P11: two tokens with one new account at once make one account, one of them merged", async () => {
  const { visitors, identify } = await openVisitors();
  const tokens = [await visitors.mint(SLUG), await visitors.mint(SLUG)];
  const outcomes = await Promise.all(tokens.map(({ visitorToken }) => identify(visitorToken, "acc")));
  expect(outcomes.filter(({ merged }) => merged)).toHaveLength(1);
  expect(new Set(outcomes.map(({ userId }) => userId)).size).toBe(1);
});

test("P11: one token with two accounts at once: one succeeds, one conflicts", async () => {
  const { visitors, identify } = await openVisitors();
  const { visitorToken } = await visitors.mint(SLUG);
  const outcomes = await Promise.allSettled(["a", "b"].map((id) => identify(visitorToken, id)));
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(refused.map(({ reason }) => (reason as { reason: string }).reason)).toEqual(["conflict"]);
});

test("an identify that never finds what it read gives up as unavailable", async () => {
  let tries = 0;
  const { visitors, identify } = await openVisitors(() => ({
    promote: async () => {
      tries++;
      return "changed";
    },
  }));
  const { visitorToken } = await visitors.mint(SLUG);
  await expect(identify(visitorToken, "acc")).rejects.toMatchObject({ reason: "unavailable" });
  expect(tries).toBe(20);
});
