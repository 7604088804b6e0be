// For src/operators/retention/
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createInstance } from "../threads/instance.ts";
import type { Instance } from "../threads/instance.ts";
import { setTime } from "../threads/set-time.ts";
import { aroundStore } from "../faults/flaky/around-store.ts";
import { newTold } from "./retention-told.ts";
import { isInShare } from "../../src/threads/delete/in-share.ts";
import { createRetention } from "../../src/operators/retention/retention.ts";
import type { RetentionField } from "../../src/domain/channels/channel.ts";
import { StoreUnavailable } from "../../src/store.ts";
import type { Share, Store } from "../../src/store.ts";
import {
  SLUG,
  sampleChannel,
  sampleCommit,
  sampleMessage,
  sampleRun,
  sampleWaiting,
} from "../stores/samples.ts";
import { storeKinds } from "../support/stores/store-kinds.ts";
import type { TestDatabase } from "../support/stores/store-kinds.ts";

const DAY_MS = 86_400_000;
const NOW_MS = 100 * DAY_MS;
const WITHIN = { timeout: 30_000, interval: 20 };

/** Every step by which retention changes what is kept. */
const STEPS = [
  "appendAudit",
  "dropSilentVisitor",
  "endDeletion",
  "eraseThread",
  "eraseUnchanged",
  "planDeletion",
  "setSweepPlace",
  "unlistThread",
  "unlistUser",
] as const satisfies readonly (keyof Store)[];

let hashes = 0;

describe.each(storeKinds)("retention, on $name", ({ prepare }) => {
  let ground: TestDatabase;
  let store: Store;
  let here: Instance;
  let nowMs = NOW_MS;
  const clock = { now: () => nowMs, elapsed: () => nowMs };

  beforeAll(async () => {
    ground = await prepare();
  });

  beforeEach(async () => {
    nowMs = NOW_MS;
    store = await ground.open(clock);
    here = createInstance(store, { clock });
    await store.putChannel(sampleChannel());
  });

  afterEach(async () => {
    await here.threads.drain(0);
    await store.close();
    await ground.clear();
  });

  afterAll(() => ground.remove());

  function sweeper(
    retention: RetentionField,
    over: {
      store?: Store;
      forgets?: Instance;
      share?: () => Share;
      timers?: ReturnType<typeof setTime>["timers"];
    } = {},
  ) {
    const told = newTold();
    const sweep = createRetention({
      store: over.store ?? store,
      forgets: (over.forgets ?? here).threads.forgetting.aged,
      channels: () => [sampleChannel({ retention })],
      share: over.share ?? (() => ({ rank: 0, of: 1 })),
      clock,
      timers: over.timers ?? setTime().timers,
      log: { warn: (_: object, text?: string) => void here.complaints.push(String(text)) },
      progress: told.progress,
      random: () => 0,
    });
    return { ...sweep, told };
  }

  async function visitor(userId: string, { hasToken = false, daysAgo = 90 } = {}): Promise<void> {
    hashes += 1;
    const tokenHash = hashes.toString(16).padStart(64, "0");
    const atMs = NOW_MS - daysAgo * DAY_MS;
    await store.mintVisitor({ slug: SLUG, tokenHash, userId, snapshot: "s", ttlMs: 600_000, atMs });
    if (!hasToken) await store.revokeTokens(SLUG, userId);
  }

  /** A thread of a user in which the last word was said so many days ago; once the channel's order has it. */
  async function spoke(userId: string, uid: string, daysAgo: number, state: "idle" | "running" = "idle") {
    const atMs = NOW_MS - daysAgo * DAY_MS;
    await store.addThread({ slug: SLUG, userId, threadId: uid, uid, atMs });
    const said = { messages: [sampleMessage(1, { createdAtMs: atMs })], run: sampleRun("r1", { userId }) };
    const fence = `${store.processId}:${uid}`;
    await store.commit(
      sampleCommit({ ...said, uid, opId: `say ${uid}`, fence, state, holds: state === "running", atMs }),
    );
  }

  async function threadsLeft(): Promise<string[]> {
    const page = { limit: 500, after: null, sinceMs: 0, untilMs: Infinity };
    return (await store.channelThreads(SLUG, page)).items.map(({ uid }) => uid).toSorted();
  }
  const usersLeft = async () => (await store.users(SLUG)).map(({ userId }) => userId).toSorted();
  const isGone = async (uid: string) => (await store.look(uid, null)).isDeleted === true;
  async function audited(): Promise<string[]> {
    const { items } = await store.audit({ limit: 500, after: null, sinceMs: 0 });
    return items.map(({ entry }) => `${entry.operator} ${entry.action} ${entry.target}`).toSorted();
  }

  it("deletes threads without a message for so many days, and no younger ones", async () => {
    await visitor("u1", { hasToken: true });
    await spoke("u1", "old", 31);
    await spoke("u1", "just", 30.1);
    await spoke("u1", "young", 29);
    await store.addThread({ slug: SLUG, userId: "u1", threadId: "empty", uid: "empty", atMs: 1_000 });
    const { look, told } = sweeper({ threadsDays: 30 });
    await expect.poll(async () => (await look(), threadsLeft()), WITHIN).toEqual(["young"]);
    expect(await isGone("old")).toBe(true);
    expect(await store.history("old", { limit: 9, before: null })).toEqual([]);
    expect(await usersLeft()).toEqual(["u1"]);
    expect(await audited()).toEqual(["empty", "just", "old"].map((uid) => `retention threads.delete ${uid}`));
    expect(told.deleted).toEqual({ thread: 3 });
    await look();
    expect(told.overdueMs).toBe(0);
    expect(here.complaints).toEqual([]);
  });

  it("takes fractions of a day, and what becomes old while it runs", async () => {
    await visitor("u1", { hasToken: true });
    await spoke("u1", "t1", 0);
    const { look } = sweeper({ threadsDays: 0.001 });
    await look();
    expect(await threadsLeft()).toEqual(["t1"]);
    nowMs += 100_000;
    await expect.poll(async () => (await look(), threadsLeft()), WITHIN).toEqual([]);
  });

  it("leaves a thread with a run in progress, and goes on behind it", async () => {
    await visitor("u1", { hasToken: true });
    await spoke("u1", "busy", 50, "running");
    await spoke("u1", "idle", 40);
    const { look } = sweeper({ threadsDays: 30 });
    await expect.poll(async () => (await look(), threadsLeft()), WITHIN).toEqual(["busy"]);
    expect(await isGone("busy")).toBe(false);
  });

  it.each([{ threadsDays: 30 }, { anonymousDays: 30 }])(
    "leaves a thread whose run is over where a message waits, and its user: %o",
    async (retention) => {
      await visitor("u1");
      await spoke("u1", "t1", 50, "running");
      await store.wait("t1", sampleWaiting("w1"), 3);
      const ends = { uid: "t1", opId: "end t1", fence: `${store.processId}:t1`, rev: 1, claims: false };
      await store.commit(sampleCommit({ ...ends, messages: [], state: "idle", holds: false }));
      const { look } = sweeper(retention);
      await expect.poll(async () => (await restingNow()).length, WITHIN).toBe(1);
      while (await look());
      expect(await threadsLeft()).toEqual(["t1"]);
      expect(await store.waitingRuns("t1")).toEqual(["w1"]);
    },
  );

  it("keeps a thread in which something is said while it looks", async () => {
    await visitor("u1", { hasToken: true });
    await spoke("u1", "t1", 50);
    await expect.poll(async () => (await restingNow()).length, WITHIN).toBe(1);
    const restingThreads: Store["restingThreads"] = async (slug, page) => {
      const found = await store.restingThreads(slug, page);
      const again = { messages: [sampleMessage(2, { createdAtMs: NOW_MS })], claims: true, rev: 1 };
      const fence = `${store.processId}:again`;
      await store.commit(
        sampleCommit({ ...again, opId: "again", fence, readOp: "say t1", state: "idle", holds: false }),
      );
      return found;
    };
    const { look, told } = sweeper({ threadsDays: 30 }, { store: { ...store, restingThreads } });
    await look();
    expect(told.deleted).toEqual({});
    expect((await store.look("t1", null)).messageCount).toBe(2);
    expect(await audited()).toEqual([]);
  });

  const restingNow = async () =>
    (await store.restingThreads(SLUG, { untilMs: NOW_MS, limit: 9, after: null })).items;

  it("deletes anonymous users without a valid token and without a younger thread, with everything", async () => {
    await visitor("gone");
    await spoke("gone", "g1", 40);
    await spoke("gone", "g2", 35);
    await visitor("has-token", { hasToken: true });
    await spoke("has-token", "h1", 40);
    await visitor("has-young");
    await spoke("has-young", "y1", 40);
    await spoke("has-young", "y2", 3);
    await store.admitUser({
      slug: SLUG,
      externalId: "kim",
      displayName: null,
      newUserId: "account",
      thread: { name: "a1", newUid: "a1" },
      creates: true,
      atMs: 1_000,
    });
    const { look, told } = sweeper({ anonymousDays: 30 });
    while (await look());
    expect(await usersLeft()).toEqual(["account", "has-token", "has-young"]);
    expect(await threadsLeft()).toEqual(["a1", "h1", "y1", "y2"]);
    expect([await isGone("g1"), await isGone("g2")]).toEqual([true, true]);
    expect(await store.findUser(SLUG, "gone")).toBeNull();
    expect(await audited()).toEqual(["retention users.delete gone"]);
    expect(told.deleted).toEqual({ user: 1 });
    expect(told.usersSeen).toBe(4);
  });

  it("lets anonymous users who never spoke go with their token, blocked ones too", async () => {
    await visitor("silent", { daysAgo: 0 });
    await visitor("waiting", { daysAgo: 0, hasToken: true });
    await visitor("blocked", { daysAgo: 0 });
    await store.flagUser(SLUG, "blocked", { blocked: true });
    const { look, told } = sweeper({ anonymousDays: 30 });
    while (await look());
    expect(await usersLeft()).toEqual(["waiting"]);
    expect(told.deleted).toEqual({ visitor: 1, user: 1 });
  });

  it("goes on where another instance stopped in the midst of a channel's users", async () => {
    for (let nth = 0; nth < 210; nth++) await visitor(`u${nth}`, { hasToken: true, daysAgo: 90 - nth / 100 });
    const first = sweeper({ anonymousDays: 30 });
    expect(await first.look()).toBe(true);
    expect(first.told.usersSeen).toBe(200);
    const second = sweeper({ anonymousDays: 30 });
    expect(await second.look()).toBe(false);
    expect(second.told.usersSeen).toBe(10);
    // And from the first one on again.
    await second.look();
    expect(second.told.usersSeen).toBe(210);
  });

  it("carries out what an instance left that died after the tombstone", async () => {
    await visitor("u1", { hasToken: true });
    await spoke("u1", "t1", 50);
    await store.eraseUnchanged("t1", NOW_MS, 1);
    expect((await store.threads(SLUG, "u1")).length).toBe(1);
    const { look } = sweeper({ threadsDays: 30 });
    await expect.poll(async () => (await look(), restingNow()), WITHIN).toEqual([]);
    expect(await store.threads(SLUG, "u1")).toEqual([]);
    expect(await audited()).toContain("retention threads.delete t1");
  });

  /** Takes every step, and answers each too late; from then on, if so chosen, each again in time. */
  function lateStore(steps: readonly (keyof Store)[]) {
    const late = { isLate: true, steps: 0 };
    const over = aroundStore(store, steps, async (name, call) => {
      late.steps += 1;
      const result = await call();
      if (late.isLate) throw new StoreUnavailable(name);
      return result;
    });
    return Object.assign(late, { store: over, instance: createInstance(over, { clock }) });
  }

  it("gets on where every step is answered too late, and notes each deletion once", async () => {
    await visitor("u1", { hasToken: true });
    for (const uid of ["t1", "t2", "t3"]) await spoke("u1", uid, 50);
    await visitor("u2");
    await spoke("u2", "t4", 50);
    const late = lateStore(STEPS);
    const { look, told } = sweeper(
      { threadsDays: 60, anonymousDays: 30 },
      { store: late.store, forgets: late.instance },
    );
    await expect.poll(async () => (await look().catch(() => {}), usersLeft()), WITHIN).toEqual(["u1"]);
    const threads = sweeper({ threadsDays: 30 }, { store: late.store, forgets: late.instance });
    await expect.poll(async () => (await threads.look(), threadsLeft()), WITHIN).toEqual([]);
    expect(told.deleted).toEqual({ user: 1 });
    expect(threads.told.deleted).toEqual({ thread: 3 });
    const noted = ["t1", "t2", "t3"].map((uid) => `retention threads.delete ${uid}`);
    expect(await audited()).toEqual([...noted, "retention users.delete u2"]);
    // What is left of it is carried out as soon as an answer comes in time.
    late.isLate = false;
    nowMs += 60_000;
    await late.instance.threads.carryOutDeletions();
    expect(await store.plannedDeletions(9)).toEqual([]);
    expect((await Promise.all(["t1", "t2", "t3", "t4"].map(isGone))).every(Boolean)).toBe(true);
  });

  it("goes on with the others where one thread or user fails", async () => {
    await visitor("u1", { hasToken: true });
    for (const uid of ["t1", "t2", "t3"]) await spoke("u1", uid, 50);
    for (const userId of ["u2", "u3", "u4"]) await visitor(userId);
    const failing = aroundStore(store, ["eraseUnchanged", "hasValidToken"], async (name, call, args) => {
      if (args[0] === "t1") throw new StoreUnavailable(name);
      if (args[1] === "u2") throw new Error("unexpected");
      return call();
    });
    const forgets = createInstance(failing, { clock });
    const { look } = sweeper({ threadsDays: 30, anonymousDays: 30 }, { store: failing, forgets });
    await expect.poll(async () => (await look(), threadsLeft()), WITHIN).toEqual(["t1"]);
    expect(await usersLeft()).toEqual(["u1", "u2"]);
    expect(new Set(here.complaints)).toEqual(new Set(["cannot delete what is past its date"]));
  });

  it("keeps its place among the users up to the one whose turn was late, and passes it in the end", async () => {
    for (let nth = 0; nth < 9; nth++) await visitor(`u${nth}`, { hasToken: true, daysAgo: 90 - nth });
    const seen: string[] = [];
    const late = aroundStore(store, ["hasValidToken"], async (name, call, args) => {
      seen.push(String(args[1]));
      if (args[1] === "u5") throw new StoreUnavailable(name);
      return call();
    });
    const { look } = sweeper({ anonymousDays: 30 }, { store: late });
    expect(await look()).toBe(true);
    expect(seen.filter((userId) => userId < "u5")).toHaveLength(5);
    while (await look());
    expect(seen.filter((userId) => userId < "u5")).toHaveLength(5);
    expect(seen.filter((userId) => userId === "u5")).toHaveLength(3);
    expect(await store.sweepPlace(SLUG)).toBeNull();
  });

  it("begins no more while a thousand deletions are under way, and a channel is swept by one instance", async () => {
    await visitor("u1", { hasToken: true });
    await spoke("u1", "t1", 50);
    await expect.poll(async () => (await restingNow()).length, WITHIN).toBe(1);
    const plannedDeletions: Store["plannedDeletions"] = async () =>
      Array.from({ length: 950 }, (_, nth) => ({ kind: "thread", slug: SLUG, id: `x${nth}`, atMs: 1 }));
    const crowded = sweeper({ threadsDays: 30 }, { store: { ...store, plannedDeletions } });
    expect(await crowded.look()).toBe(true);
    const shares = [0, 1].map((rank) => sweeper({ threadsDays: 30 }, { share: () => ({ rank, of: 2 }) }));
    expect(await threadsLeft()).toEqual(["t1"]);
    for (const { look } of shares) await look();
    expect(shares.flatMap(({ told }) => told.deleted["thread"] ?? [])).toEqual([1]);
  });

  it("takes over a channel, soon, from an instance that is gone", async () => {
    await visitor("u1", { hasToken: true });
    await spoke("u1", "t1", 50);
    await expect.poll(async () => (await restingNow()).length, WITHIN).toBe(1);
    const time = setTime();
    const { rank } = [0, 1].map((nth) => ({ rank: nth, of: 2 })).find((one) => !isInShare(SLUG, one)) ?? {};
    let share: Share = { rank: rank ?? 0, of: 2 };
    const sweep = sweeper({ threadsDays: 30 }, { share: () => share, timers: time.timers });
    sweep.start();
    time.pass(1_000);
    await expect.poll(() => time.pending(), WITHIN).toBe(1);
    expect(await threadsLeft()).toEqual(["t1"]);
    share = { rank: 0, of: 1 };
    time.pass(8_000);
    await expect.poll(threadsLeft, WITHIN).toEqual([]);
    sweep.stop();
  });

  it("looks at its start, every minute, and sooner while there is more; not any more when it is stopped", async () => {
    const time = setTime();
    let looks = 0;
    const plannedDeletions: Store["plannedDeletions"] = async () => {
      looks += 1;
      if (looks === 2) throw new Error("unexpected");
      if (looks === 3) throw new StoreUnavailable("look for planned deletions");
      return [];
    };
    const over = { store: { ...store, plannedDeletions }, timers: time.timers };
    const sweep = sweeper({ threadsDays: 30 }, over);
    sweep.start();
    for (const [ms, count] of [
      [1_000, 1],
      [47_000, 1],
      [1_000, 2],
      [48_000, 3],
      [1_600, 4],
    ] as const) {
      time.pass(ms);
      await expect.poll(() => looks, WITHIN).toBe(count);
      await expect.poll(() => time.pending(), WITHIN).toBe(1);
    }
    expect(here.complaints).toEqual(["cannot delete what is past its date"]);
    sweep.stop();
    time.pass(120_000);
    expect([looks, time.pending()]).toEqual([4, 0]);
  });
});
