import { createVisitors } from "../../src/visitors/visitors.ts";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { DAY, SLUG } from "../stores/samples.ts";
import { checkInvariants } from "../stores/twin/invariants.ts";
import type { StoreDump } from "../stores/twin/invariants.ts";

/** Of each side of a merge: enough that half of a move would show. */
const THREADS = 5;

/**
 * Makes a visitor with threads and a whitelisting, and, for every even `nth`, a blocked account with threads; answers how
 * to link them.
 */
export async function prepareLink(store: Store, nth: number): Promise<() => Promise<void>> {
  const visitors = createVisitors({ store, clock: systemClock, ttlMs: 86_400_000 });
  const { visitorToken, userId } = await visitors.mint(SLUG);
  const externalId = `account-${nth}`;
  const add = (owner: string, name: string) =>
    store.addThread({ slug: SLUG, userId: owner, threadId: name, uid: `${name}-${nth}`, atMs: 1 });
  await Promise.all(names("theirs").map((name) => add(userId, name)));
  await store.flagUser(SLUG, userId, { whitelisted: true });
  await store.spendTokens({ slug: SLUG, userId, day: DAY, tokens: 5 });
  if (nth % 2 === 0) {
    const newUserId = `user-${nth}`;
    const account = { slug: SLUG, externalId, displayName: null, newUserId, thread: null };
    const admitted = await store.admitUser({ ...account, creates: true, atMs: 1 });
    if (admitted === null) throw new Error(`Cannot set up a merge: there is no channel ${SLUG}`);
    await Promise.all(names("own").map((name) => add(newUserId, name)));
    await store.flagUser(SLUG, newUserId, { blocked: true });
  }
  return async () => {
    await visitors.identify({ slug: SLUG, visitorToken, externalId });
  };
}

function names(whose: string): string[] {
  return Array.from({ length: THREADS }, (_, n) => `${whose}-${n}`);
}

/**
 * What became of a linking, by everything that the store holds: `before`, `after`, or what is neither, in words. Only
 * those that were prepared may be asked for.
 */
export function outcomeOf(dump: StoreDump, nth: number): string {
  const threadsOf = (userId: string) =>
    dump.names
      .filter((name) => name.userId === userId)
      .map(({ entry }) => entry.threadId)
      .sort()
      .join();
  const theirs = names("theirs").join();
  const own = nth % 2 === 0 ? names("own").join() : "";
  const all = [...(own === "" ? [] : names("own")), ...names("theirs")].join();

  const mover = dump.names.find(({ entry }) => entry.uid === `theirs-0-${nth}`)?.userId ?? "";
  const holder = dump.users.find(({ user }) => user.userId === mover)?.user;
  const account = dump.users.find(({ user }) => user.externalId === `account-${nth}`)?.user;
  const reached = dump.tokens.filter(({ userId }) => userId === mover).length;
  if (holder === undefined || reached !== 1) return `the threads' user has ${reached} tokens`;

  if (holder.externalId === null) {
    const isWhole = threadsOf(mover) === theirs && holder.whitelisted && !holder.blocked;
    const isApart =
      own === ""
        ? account === undefined
        : account?.blocked === true && !account.whitelisted && threadsOf(account.userId) === own;
    return isWhole && isApart ? "before" : `a half: ${JSON.stringify({ holder, account })}`;
  }
  const isWhole = threadsOf(mover) === all && holder.whitelisted && holder.blocked === (own !== "");
  return isWhole && holder === account ? "after" : `a half: ${JSON.stringify({ holder, account })}`;
}

/** What is wrong with the linkings 0 to `count`; empty where all is well. */
export function faultsOf(dump: StoreDump, count: number, acknowledged: ReadonlySet<number>): string[] {
  const outcomes = Array.from({ length: count }, (_, nth) => ({ nth, outcome: outcomeOf(dump, nth) }));
  const wrong = outcomes.filter(({ nth, outcome }) =>
    acknowledged.has(nth) ? outcome !== "after" : outcome !== "before" && outcome !== "after",
  );
  return [...checkInvariants(dump), ...wrong.map(({ nth, outcome }) => `linking ${nth}: ${outcome}`)];
}
