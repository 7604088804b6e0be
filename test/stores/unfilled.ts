import { expect } from "vitest";
import type { Store } from "../../src/store.ts";
import { SLUG, sampleChannel, sampleCommit, sampleMessage, sampleRun } from "./samples.ts";

/** So many that filling takes several steps on either store. */
const USERS = 230;

/** Users with a thread each, most of them empty; some are blocked. */
export async function populate(store: Store): Promise<void> {
  await store.putChannel(sampleChannel());
  for (let nth = 0; nth < USERS; nth++) {
    const caller = { slug: SLUG, externalId: `kim ${nth}`, displayName: null, newUserId: `u${nth}` };
    const thread = { name: `order ${nth}`, newUid: `t${nth}` };
    await store.admitUser({ ...caller, thread, creates: true, atMs: 1_000 + nth });
    if (nth % 50 === 0) await store.flagUser(SLUG, `u${nth}`, { blocked: true });
    if (nth % 10 > 0) continue;
    const messages = [sampleMessage(1, { createdAtMs: 9_000 - nth })];
    const said = { uid: `t${nth}`, opId: `say ${nth}`, fence: `${store.processId}:a`, messages };
    const run = sampleRun("r1", { userId: `u${nth}` });
    // Some wait for a page, with the visitor or with a person.
    const state = nth % 40 === 0 ? "with_person" : nth % 20 === 0 ? "awaiting" : "idle";
    const deadlineMs = state === "awaiting" ? 90_000 : null;
    await store.commit(sampleCommit({ ...said, run, state, holds: false, deadlineMs }));
  }
}

const ALWAYS = { sinceMs: 0, untilMs: Infinity };

/** What operators are shown by them. */
export async function orders(store: Store) {
  const page = { limit: USERS + 10, after: null };
  const threads = await store.channelThreads(SLUG, { ...page, ...ALWAYS });
  const withPerson = await store.channelThreads(SLUG, { ...page, ...ALWAYS, state: "with_person" });
  const users = await store.usersPage(SLUG, { ...page, order: "newest first", blocked: true });
  return {
    threads: threads.items,
    withPerson: withPerson.items.map(({ uid }) => uid),
    blocked: users.items.filter(({ user }) => user.blocked).map(({ user: { userId } }) => userId),
    /** Others were looked at to find them. */
    isScanned: users.items.some(({ user }) => !user.blocked),
  };
}

export async function expectFilled(store: Store, before: Awaited<ReturnType<typeof orders>>): Promise<void> {
  expect(before.threads).toHaveLength(USERS);
  expect(before.withPerson).toEqual(["t0", "t40", "t80", "t120", "t160", "t200"]);
  expect(before.blocked).toEqual(["u200", "u150", "u100", "u50", "u0"]);
  expect(await orders(store)).toEqual({ ...before, isScanned: false });
  expect(await store.fillOrders()).toBe(false);
}
