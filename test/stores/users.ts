import type { User } from "../../src/domain/people/user.ts";
import type { Store } from "../../src/store.ts";
import { SLUG } from "./samples.ts";

/** Calls about users of the channel SLUG: a test names what it is about. */

export function mint(
  store: Store,
  tokenHash: string,
  userId: string,
  atMs = 1_000,
  ttlMs = 60_000,
): Promise<void> {
  return store.mintVisitor({ slug: SLUG, tokenHash, userId, snapshot: `token of ${userId}`, ttlMs, atMs });
}

export function admit(store: Store, tokenHash: string, threadId: string | null = null, ttlMs = 60_000) {
  return store.admitVisitor({ slug: SLUG, tokenHash, ttlMs, threadId });
}

export function rotate(store: Store, tokenHash: string, newTokenHash: string, userId = "u1") {
  return store.rotateToken({ slug: SLUG, tokenHash, userId, newTokenHash, ttlMs: 60_000 });
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

/** A thread of the user, whose name is its uid unless given. */
export function addThread(store: Store, userId: string, uid: string, atMs = 1_000, threadId = uid) {
  return store.addThread({ slug: SLUG, userId, threadId, uid, atMs });
}

/** The visitor of the token, and the account that it is to become one with. */
export async function sidesOf(store: Store, tokenHash = "h1", externalId = "kim") {
  const { visitor, account } = await store.readIdentity(SLUG, tokenHash, externalId);
  if (visitor === null || account === null) throw new Error("Cannot set up a merge: a side is missing");
  return { slug: SLUG, tokenHash, from: visitor.user, into: account, result: account, snapshot: "bound" };
}

/** The token's visitor becomes one with the account, which is there. */
export async function merged(store: Store, tokenHash = "h1", externalId = "kim"): Promise<User> {
  const sides = await sidesOf(store, tokenHash, externalId);
  const answer = await store.merge(sides);
  if (answer !== "done") throw new Error(`Cannot merge: ${answer}`);
  return sides.into;
}
