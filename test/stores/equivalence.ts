import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { UserMessage } from "../../src/domain/message.ts";
import type { Store, ThreadList } from "../../src/store.ts";
import type { StoreUnderTest } from "./contract.ts";
import { createReference } from "./reference.ts";
import {
  DAY,
  SLUG,
  sampleChannel,
  sampleCommit,
  sampleMessage,
  sampleRun,
  sampleWaiting,
} from "./samples.ts";
import { randomRuns } from "../support/lengths.ts";

/** Few names, so that random commands meet. */
const pick = <T extends string>(...names: T[]) => fc.constantFrom(...names);
const uid = pick("t1", "t2");
const fence = pick("p1:a", "p1:b", "p2:a");
const runId = pick("r1", "r2", "r3");
const waitingId = pick("w1", "w2", "w3");
const threadName = pick("n1", "n2", "n1~2");
const externalId = pick("kim", "Łu {x}");
const tokenHash = pick("h1", "h2", "h3");

const someCommit = fc.record({
  type: fc.constant("commit" as const),
  uid,
  fence,
  opId: pick("o1", "o2", "o3", "o4", "o5", "o6"),
  claims: fc.boolean(),
  takesFrom: fc.option(fence),
  /** Mostly the revision as it is; otherwise off by this. */
  revOff: fc.constantFrom(0, 0, 0, 0, -1, 1),
  /** Mostly the last operation as it is; otherwise this one. */
  undoneOp: fc.constantFrom(null, null, null, null, null, "undone"),
  state: pick("idle", "running", "awaiting", "waiting_for_person", "with_person"),
  runId,
  endedRunId: fc.option(runId, { freq: 4 }),
  /** True: the commit saves no run, where it starts none. */
  leavesRun: fc.constantFrom(false, false, false, true),
  /** What it claims without a message that may wait. */
  claimed: fc.constantFrom(undefined, undefined, "one", "other"),
  texts: fc.array(fc.string({ unit: "grapheme", maxLength: 8 }), { maxLength: 2 }),
  /** A waiting message that the commit starts: by luck the head of the queue. */
  starts: fc.option(waitingId, { freq: 2 }),
  holds: fc.boolean(),
  deadlineMs: fc.integer({ min: 1, max: 50 }),
  waits: fc.option(fc.record({ runId: waitingId, max: fc.integer({ min: 0, max: 3 }) })),
});

/** Everything that changes a store, and what reads on the way to it. */
export const someCommand = fc.oneof(
  { weight: 12, arbitrary: someCommit },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("wait" as const), uid, runId: waitingId, max: fc.nat(3) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("catalog" as const), uid, size: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("mint" as const), tokenHash }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("admit" as const), tokenHash, threadName }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("call" as const),
      externalId,
      displayName: fc.option(pick("Kim", "K.")),
      attributes: fc.constantFrom(undefined, undefined, {}, { plan: "pro" }, { seats: 3, trial: false }),
      threadName: fc.option(threadName),
      makesThread: fc.boolean(),
      creates: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("addThread" as const), tokenHash, threadName }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("spend" as const), tokenHash, tokens: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("flag" as const), tokenHash, blocked: fc.boolean() }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("identify" as const),
      tokenHash,
      externalId,
      /** Blocked between the reading and the step. */
      disturbed: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("deleteThread" as const), uid }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("deleteUser" as const), tokenHash }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("elapse" as const), ms: fc.constantFrom(400_000, 1_100_000) }),
  },
);

type Command = typeof someCommand extends fc.Arbitrary<infer T> ? T : never;

/** Long enough that no real time matters, for implementations whose time cannot be set. */
const TTL_MS = 1_000_000;

/** `number` counts up: it makes times and ids, the same ones for both sides. */
/** Some messages share an id of their caller's, under different texts. */
function waitingOf(runId: string): UserMessage {
  const message = sampleWaiting(runId);
  return runId.endsWith("1") || runId.endsWith("2") ? { ...message, clientMessageId: "shared" } : message;
}

export async function run(store: Store, command: Command, number: number): Promise<unknown> {
  const atMs = number;
  switch (command.type) {
    case "commit": {
      const record = await store.load(command.uid, 0);
      const messageCount = record?.messageCount ?? 0;
      const waits = command.waits;
      return store.commit(
        sampleCommit({
          uid: command.uid,
          opId: command.opId,
          fence: command.fence,
          claims: command.claims,
          takesFrom: command.takesFrom,
          rev: (record?.rev ?? 0) + command.revOff,
          readOp: command.undoneOp ?? record?.lastOp ?? null,
          atMs,
          snapshot: `snapshot ${number}`,
          state: command.state,
          run:
            command.leavesRun && command.starts === null
              ? null
              : sampleRun(command.starts ?? command.runId, { activeMs: number }),
          endedRun:
            command.endedRunId === null || command.endedRunId === command.runId
              ? null
              : sampleRun(command.endedRunId, { outcome: "superseded" }),
          messages: command.texts.map((content, index) =>
            sampleMessage(messageCount + index + 1, { content, createdAtMs: atMs }),
          ),
          startsWaiting: command.starts,
          holds: command.holds,
          deadlineMs: command.deadlineMs,
          orWait: waits && { message: waitingOf(waits.runId), max: waits.max },
          ...(command.claimed && !waits
            ? { claimsId: { clientMessageId: "\u0001ann", runId: "item-1", textHash: command.claimed } }
            : {}),
        }),
      );
    }
    case "wait":
      return store.wait(command.uid, waitingOf(command.runId), command.max);
    case "catalog":
      return store.setCatalog(
        command.uid,
        SLUG,
        Array.from({ length: command.size }, (_, index) => ({ name: `tool${index}` })),
      );
    case "mint": {
      const known = await store.readIdentity(SLUG, command.tokenHash, "nobody");
      if (known.visitor !== null) return null;
      return store.mintVisitor({
        slug: SLUG,
        tokenHash: command.tokenHash,
        userId: `u${number}`,
        snapshot: `token ${number}`,
        ttlMs: TTL_MS,
        atMs,
      });
    }
    case "admit":
      return store.admitVisitor({
        slug: SLUG,
        tokenHash: command.tokenHash,
        ttlMs: TTL_MS,
        threadId: command.threadName,
      });
    case "call":
      return store.admitUser({
        slug: SLUG,
        externalId: command.externalId,
        displayName: command.displayName,
        attributes: command.attributes,
        newUserId: `u${number}`,
        thread:
          command.threadName === null
            ? null
            : { name: command.threadName, newUid: command.makesThread ? `t${number}` : null },
        creates: command.creates,
        atMs,
      });
    case "addThread":
      return store.addThread({
        slug: SLUG,
        userId: await userBehind(store, command.tokenHash),
        threadId: command.threadName,
        uid: `t${number}`,
        atMs,
      });
    case "spend": {
      const userId = await userBehind(store, command.tokenHash);
      return store.spendTokens({ slug: SLUG, userId, day: DAY, tokens: command.tokens });
    }
    case "flag":
      return store.flagUser(SLUG, await userBehind(store, command.tokenHash), { blocked: command.blocked });
    case "identify":
      return identify(store, command, number);
    case "deleteThread": {
      const deletion = { kind: "thread" as const, slug: SLUG, id: command.uid, atMs };
      await store.unlistThread(deletion);
      // By whom it was held, a repeat may tell or not.
      await store.eraseThread(command.uid, atMs);
      return null;
    }
    case "deleteUser": {
      const userId = await userBehind(store, command.tokenHash);
      const deletion = { kind: "user" as const, slug: SLUG, id: userId, atMs };
      await store.planDeletion(deletion);
      const uids = await store.unlistUser(deletion);
      for (const each of uids) await store.eraseThread(each, atMs);
      await store.endDeletion(deletion);
      return uids;
    }
    case "elapse":
      return null;
  }
}

async function userBehind(store: Store, token: string): Promise<string> {
  return (await store.readIdentity(SLUG, token, "nobody")).visitor?.user.userId ?? "nobody";
}

async function identify(
  store: Store,
  { tokenHash: token, externalId: id, disturbed }: Extract<Command, { type: "identify" }>,
  number: number,
): Promise<unknown> {
  const { visitor, account } = await store.readIdentity(SLUG, token, id);
  if (visitor === null || visitor.user.externalId !== null) return "not anonymous";
  if (disturbed) {
    await store.flagUser(SLUG, account?.userId ?? visitor.user.userId, { blocked: true, whitelisted: true });
  }
  const common = { slug: SLUG, tokenHash: token, snapshot: `bound ${number}` };
  if (account === null) return store.promote({ ...common, externalId: id, user: visitor.user });
  const blocked = visitor.user.blocked || account.blocked;
  const whitelisted = visitor.user.whitelisted || account.whitelisted;
  return store.merge({
    ...common,
    from: visitor.user,
    into: account,
    // Never what a disturbance alone makes of the account, which would count as a merge that was stopped.
    result: { ...account, displayName: `merged ${number}`, blocked, whitelisted },
  });
}

async function pagesOf(store: Store, userId: string): Promise<ThreadList[]> {
  const pages: ThreadList[] = [];
  for (let after: ThreadList["next"] = null; pages.length === 0 || after;) {
    const page: ThreadList = await store.listThreads({ slug: SLUG, userId, limit: 2, after });
    pages.push(page);
    after = page.next;
  }
  return pages;
}

/** Everything that a store can be asked about. */
async function look(store: Store): Promise<unknown> {
  const users = await store.users(SLUG);
  const sorted = (held: { uid: string; fence: string }[]) =>
    held.toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
  return {
    users,
    names: await Promise.all(users.map((user) => store.threads(SLUG, user.userId))),
    lists: await Promise.all(users.map((user) => pagesOf(store, user.userId))),
    spent: await Promise.all(users.map((user) => store.spentTokens(SLUG, user.userId, DAY))),
    threads: await Promise.all(
      ["t1", "t2"].flatMap((id) => [
        store
          .load(id, 10)
          .then((record) => (record?.rev === 0 && record.catalog.length === 0 ? null : record)),
        store.load(id, 10, "active").then((record) => record?.run?.runId),
        store.history(id, { limit: 3, before: "3" }),
        store.history(id, { limit: 100, before: null }),
        store.history(id, { limit: 100, before: null, budgetChars: 30 }),
        store.runs(id, 2),
        store.look(id, null),
        store.look(id, 1),
        store.lastOp(id),
        store.claimed(id, "\u0001ann"),
      ]),
    ),
    held: [sorted(await store.heldBy("p1")), sorted(await store.heldBy("p2"))],
    due: [(await store.due(25, 10)).toSorted(), (await store.due(100, 10)).toSorted()],
  };
}

/**
 * P10, P11: whatever is asked of an implementation, in whatever order, it answers as the reference does, and afterwards holds the same.
 * `elapses: false` leaves lifetimes out, for an implementation whose time cannot be set; `faults` is asked at the end of each run.
 */
export function itEqualsTheReference<Opened extends StoreUnderTest>(
  open: () => Promise<Opened>,
  options: { runs: number; elapses: boolean; faults: (opened: Opened) => Promise<string[]> },
): void {
  it("answers any sequence of commands as the reference does", async () => {
    const commands = fc.array(someCommand, { minLength: 1, maxLength: 60, size: "max" });
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const opened = await open();
        try {
          const { answered, expected } = await runBoth(opened, sequence, options.elapses);
          expect(answered).toEqual(expected);
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
  const { store } = opened;
  const [answered, expected]: [unknown[], unknown[]] = [[], []];
  for (const each of [reference, store]) await each.putChannel(sampleChannel());
  for (const [index, command] of sequence.entries()) {
    const number = index + 10;
    if (command.type === "elapse" && elapses) {
      nowMs += command.ms;
      await opened.elapse(command.ms);
    }
    // A copy: what an implementation does later must not reach into its answers.
    expected.push({ command, answer: structuredClone(await run(reference, command, number)) });
    answered.push({ command, answer: structuredClone(await run(store, command, number)) });
  }
  return { answered: [...answered, await look(store)], expected: [...expected, await look(reference)] };
}
