import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { BUDGET_CHARS, DAY, SLUG, sampleChannel } from "../samples.ts";
import type { Store, ThreadPlace } from "../../../src/store.ts";
import { randomRuns } from "../../support/lengths.ts";
import { CLAIMED, COUNTED, RUNS, TOKENS, UIDS, run, someCommands } from "./random-calls.ts";
import type { Command } from "./random-calls.ts";
import type { StoreUnderTest } from "../contract/contract.ts";
import { createReference } from "./reference.ts";

/**
 * P10, P11: whatever is asked of an implementation, in whatever order, it answers as the reference does, and afterwards holds the same,
 * for this process and for the next one. `elapses: false` leaves lifetimes out, for an implementation whose time cannot be set;
 * `faults` is asked at the end of each run.
 */
export function itEqualsTheReference<Opened extends StoreUnderTest>(
  open: () => Promise<Opened>,
  options: {
    runs: number;
    elapses: boolean;

    faults: (opened: Opened) => Promise<string[]>;
  },
): void {
  it("answers any sequence of commands as the reference does", async () => {
    const commands = someCommands({ minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const opened = await open();
        try {
          const { answered, expected } = await runBoth(opened, sequence, options.elapses);
          if (!isDeepStrictEqual(answered, expected)) expect(answered).toEqual(expected);
          expect(await options.faults(opened)).toEqual([]);
        } finally {
          await opened.clean();
        }
      }),
      { numRuns: randomRuns(options.runs) },
    );
  });
}

/** Every command with its answer, and all that can be read in the end: of the implementation, and of the reference. */
async function runBoth(opened: StoreUnderTest, sequence: Command[], elapses: boolean) {
  let nowMs = 0;
  const reference = createReference({ now: () => nowMs, elapsed: () => nowMs });
  let { store } = opened;
  const [answered, expected]: [unknown[], unknown[]] = [[], []];
  for (const each of [reference, store]) await each.putChannel(sampleChannel());
  for (const [index, command] of sequence.entries()) {
    const number = index + 10;
    if (command.type === "elapse" && elapses) {
      const { ms } = command as unknown as { ms: number };
      nowMs += ms;
      await opened.elapse(ms);
    }
    if (command.type === "reopen") store = await opened.reopen();
    // A copy: what an implementation does later must not reach into its answers.
    expected.push({ command, answer: structuredClone(await run(reference, command, number)) });
    answered.push({ command, answer: structuredClone(await run(store, command, number)) });
  }
  // What is there in the end, another process says: closing this one writes what was pending of the orders.
  await store.close();
  const next = await opened.reopen();
  answered.push(await look(next));
  expected.push(await look(reference));
  return { answered, expected };
}

/** Of all pages, one after the other. */
async function itemsOf<Item, Place>(
  page: (after: Place | null) => Promise<{ items: Item[]; next: Place | null }>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (let after: Place | null = null; ;) {
    const { items, next } = await page(after);
    all.push(...items);
    if (next === null) return all;
    after = next;
  }
}

/** A channel's threads, whatever their order: it says where to look, and may be behind. */
async function threadsOf(store: Store): Promise<unknown> {
  const threads = await itemsOf((after: string | null) =>
    store.channelThreads(SLUG, { limit: 2, after, sinceMs: 0, untilMs: Infinity }),
  );
  return threads.map(({ place: _, ...thread }) => thread).toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
}

/** Everything that a store can be asked about. */
export async function look(store: Store): Promise<unknown> {
  const users = await store.users(SLUG);
  const ids = [...users.map(({ userId }) => userId), "nobody"];
  const ofUsers = async (ask: (userId: string) => Promise<unknown>) => Promise.all(ids.map(ask));
  const sorted = (held: { uid: string; fence: string }[]) =>
    held.toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
  // Places are the store's own.
  const usersBy = async (order: "oldest first" | "newest first") =>
    (await itemsOf((after: string | null) => store.usersPage(SLUG, { limit: 2, order, after }))).map(
      ({ user: { userId }, createdAtMs }) => [userId, createdAtMs],
    );
  return {
    users,
    placed: await Promise.all([usersBy("oldest first"), usersBy("newest first")]),
    names: await ofUsers((id) => store.threads(SLUG, id)),
    lists: await ofUsers((id) =>
      itemsOf((after: ThreadPlace | null) => store.listThreads({ slug: SLUG, userId: id, limit: 2, after })),
    ),
    spent: await ofUsers((id) =>
      Promise.all([DAY, "2026-11-22"].map((day) => store.spentTokens(SLUG, id, day))),
    ),
    valid: await ofUsers((id) => store.hasValidToken(SLUG, id)),
    keys: await ofUsers(async (id) => store.contentKeys?.keys(SLUG, id)),
    found: await Promise.all([...ids, "kim", "Łu {x}"].map((id) => store.findUser(SLUG, id))),
    renamed: await Promise.all(TOKENS.map((token) => renamedOf(store, token))),
    threads: await Promise.all(UIDS.flatMap((uid) => lookAt(store, uid))),
    ofChannel: await threadsOf(store),
    held: [sorted(await store.heldBy("p1")), sorted(await store.heldBy("p2"))],
    due: [(await store.due(25, 10)).toSorted(), (await store.due(100, 10)).toSorted()],
    channels: (await store.channels()).toSorted((a, b) => (a.slug < b.slug ? -1 : 1)),
    one: await store.channel(SLUG),
    ips: (await store.blockedIps()).toSorted(),
    operators: await store.operators(),
    audit: (await itemsOf((after: string | null) => store.audit({ limit: 2, after, sinceMs: 1 }))).map(
      ({ entry }) => entry,
    ),
    stats: await store.stats(SLUG, { from: "2026-11-20", to: "2026-11-22" }),
    counted: await store.countedTokens([...COUNTED, "nobody"], DAY),
    sweep: await store.sweepPlace(SLUG),
    planned: await store.plannedDeletions(9),
    wrappers: await store.contentKeys?.wrappers(),
  };
}

/** Of a token that is valid. */
async function renamedOf(store: Store, token: string) {
  if ((await store.readIdentity(SLUG, token, "nobody")).visitor === null) return null;
  const renamed = await store.renamedThreads(SLUG, token);
  return renamed.toSorted((a, b) => (a.said < b.said ? -1 : 1));
}

function lookAt(store: Store, uid: string): Promise<unknown>[] {
  const isThere = (record: Awaited<ReturnType<Store["load"]>>) =>
    record?.rev === 0 && record.catalog.length === 0 ? null : record;
  return [
    store.load(uid, 10).then(isThere),
    store.load(uid, BUDGET_CHARS, "last-in-parts").then(isThere),
    store.load(uid, 10, "active").then((record) => record?.run?.runId),
    store.history(uid, { limit: 3, before: "3" }),
    store.history(uid, { limit: 2, before: "5", budgetChars: 30 }),
    store.history(uid, { limit: 100, before: null, all: true }),
    store.history(uid, { limit: 100, before: "4", all: true, budgetChars: 300 }),
    store.history(uid, { limit: 100, before: null }),
    store.history(uid, { limit: 100, before: null, budgetChars: 30 }),
    store.runs(uid, 2),
    store.run(uid, "r1"),
    store.look(uid, null),
    store.look(uid, 1),
    store.look(uid, 0, { all: true }),
    store.lastOp(uid),
    store.claimed(uid, CLAIMED),
    store.claimed(uid, "shared"),
    store.waitingRuns(uid),
    store.channelThread(SLUG, uid),
    ...RUNS.flatMap((runId) => [store.keptText(uid, runId, 2, 1), store.keptImages(uid, runId)]),
    ...["f1", "f2"].flatMap((id) => [store.keptFile(uid, id), store.keptFileBytes(uid, id)]),
  ];
}
