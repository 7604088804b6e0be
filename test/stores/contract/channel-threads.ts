import { beforeEach, describe, expect, it } from "vitest";
import type {
  ChannelThreadPage,
  PlacedThread,
  Store,
  ThreadCommit,
  ThreadState,
} from "../../../src/store.ts";
import { countWithPerson } from "../../../src/operators/stats/count-with-person.ts";
import type { Bench } from "./contract.ts";
import { SLUG, sampleChannel, sampleCommit, sampleMessage } from "../samples.ts";
import { addThread, mint } from "../users.ts";

const ALWAYS = { sinceMs: 0, untilMs: Infinity };

/** A message in a thread that nobody has spoken in. */
async function say(store: Store, uid: string, atMs: number, changes: Partial<ThreadCommit> = {}) {
  const messages = [sampleMessage(1, { createdAtMs: atMs })];
  const commit = { uid, opId: `say in ${uid}`, fence: `${store.processId}:a`, messages, atMs };
  const idle = { holds: false, state: "idle" as const };
  const result = await store.commit(sampleCommit({ ...commit, ...idle, ...changes }));
  expect(result).toMatchObject({ type: "committed" });
}

async function walk(
  store: Store,
  limit: number,
  times: Omit<ChannelThreadPage, "limit" | "after"> = ALWAYS,
): Promise<PlacedThread[]> {
  const all: PlacedThread[] = [];
  for (let after: string | null = null; ;) {
    const { items, next } = await store.channelThreads(SLUG, { limit, after, ...times });
    all.push(...items);
    if (next === null) return all;
    after = next;
  }
}

const uidsOf = (threads: readonly { uid: string }[]) => threads.map(({ uid }) => uid);

export function channelThreadPromises(bench: Bench): void {
  describe("a channel's threads by activity", () => {
    beforeEach(async () => {
      const { store } = bench.it;
      await store.putChannel(sampleChannel());
      await mint(store, "h1", "u1");
      await mint(store, "h2", "u2");
    });

    it("are there from their creation on, with whose they are, the latest first; nobody's, and another channel's, are not", async () => {
      const { store } = bench.it;
      await addThread(store, "u1", "a", 1_000, "its name");
      await addThread(store, "u2", "b", 3_000);
      await say(store, "a", 9_000);
      await say(store, "nobody's", 9_001);
      expect(await walk(store, 10)).toEqual([
        expect.objectContaining({
          uid: "a",
          threadId: "its name",
          userId: "u1",
          createdAtMs: 1_000,
          updatedAtMs: 9_000,
          state: "idle",
        }),
        expect.objectContaining({ uid: "b", userId: "u2", updatedAtMs: 3_000, state: "idle" }),
      ]);
      expect(await store.channelThread(SLUG, "nobody's")).toBeNull();
      expect(await store.channelThread("other", "a")).toBeNull();
    });

    it("pages hold each once, also where many are of one moment", async () => {
      const { store } = bench.it;
      const uids = Array.from({ length: 25 }, (_, nth) => `t${String(nth).padStart(2, "0")}`);
      for (const [nth, uid] of uids.entries()) await addThread(store, "u1", uid, nth < 20 ? 1_000 : 2_000);
      const inOrder = [...uids.slice(20).toReversed(), ...uids.slice(0, 20).toReversed()];
      for (const limit of [1, 3, 25, 100]) expect(uidsOf(await walk(store, limit))).toEqual(inOrder);
      expect(await store.channelThreads(SLUG, { limit: 5, after: "no place", ...ALWAYS })).toEqual({
        items: [],
        next: null,
      });
    });

    it("of a span of time are those at its ends, too", async () => {
      const { store } = bench.it;
      for (const atMs of [1_000, 2_000, 3_000, 4_000]) await addThread(store, "u1", `at${atMs}`, atMs);
      const span = { sinceMs: 2_000, untilMs: 3_000 };
      for (const limit of [1, 10]) {
        expect(uidsOf(await walk(store, limit, span))).toEqual(["at3000", "at2000"]);
      }
    });

    it("one that goes on comes up", async () => {
      const { store } = bench.it;
      await addThread(store, "u1", "a", 1_000);
      await addThread(store, "u1", "b", 2_000);
      await say(store, "a", 9_000, { holds: true, state: "running" });
      await expect
        .poll(() => walk(store, 1), { timeout: 20_000 })
        .toMatchObject([{ uid: "a", updatedAtMs: 9_000, state: "running" }, { uid: "b" }]);
    });

    it("of a state are those alone, the latest first", async () => {
      const { store } = bench.it;
      const rests = { holds: false, state: "with_person" } as const;
      const waits = { holds: false, state: "awaiting", deadlineMs: 90_000 } as const;
      for (const uid of ["a", "b", "c", "d", "e"]) await addThread(store, "u1", uid, 1_000);
      await say(store, "a", 2_000, rests);
      await say(store, "b", 4_000, rests);
      await say(store, "c", 3_000, waits);
      await say(store, "d", 5_000, { holds: true, state: "running" });
      await say(store, "e", 6_000);
      const of = async (state: ThreadState) => uidsOf(await walk(store, 1, { ...ALWAYS, state }));
      const all = async () => ({
        with_person: await of("with_person"),
        awaiting: await of("awaiting"),
        waiting_for_person: await of("waiting_for_person"),
        running: await of("running"),
        idle: await of("idle"),
      });
      const there = {
        with_person: ["b", "a"],
        awaiting: ["c"],
        waiting_for_person: [],
        running: ["d"],
        idle: ["e"],
      };
      const withPerson = () => countWithPerson(store, [SLUG, "no such channel"]);
      await expect.poll(all, { timeout: 20_000 }).toEqual(there);
      expect(await withPerson()).toBe(2);

      // One goes on with a message, one without, one ends.
      const next = { claims: false, rev: 1, opId: "next" } as const;
      await say(store, "d", 7_000, { ...next, ...rests });
      await say(store, "c", 0, {
        ...next,
        claims: true,
        readOp: "say in c",
        messages: [],
        holds: true,
        state: "running",
      });
      const ends = { holds: false, state: "idle" } as const;
      await say(store, "b", 8_000, { ...next, claims: true, readOp: "say in b", ...ends });
      const later = { with_person: ["d", "a"], awaiting: [], running: ["c"], idle: ["b", "e"] };
      // Without waiting for the lists: who stands in one and does not belong to it any more is not counted.
      expect(await withPerson()).toBe(2);
      await expect.poll(all, { timeout: 20_000 }).toEqual({ ...there, ...later });
      const span = { sinceMs: 2_000, untilMs: 6_999, state: "with_person" } as const;
      expect(uidsOf(await walk(store, 10, span))).toEqual(["a"]);
    });

    it("changes are told with or without a message, the latest first", async () => {
      const { store } = bench.it;
      for (const uid of ["a", "b", "c"]) await addThread(store, "u1", uid, 1_000);
      await say(store, "a", 5_000, { holds: true, state: "running" });
      await say(store, "b", 6_000);
      const rests = { claims: false, rev: 1, state: "awaiting", holds: false, deadlineMs: 90_000 } as const;
      await say(store, "a", 0, { ...rests, opId: "rest", messages: [], atMs: 7_000 });
      const changed = () => store.changedThreads(SLUG, { sinceMs: 5_000, limit: 10 });
      await expect.poll(changed, { timeout: 20_000 }).toEqual([
        { uid: "a", atMs: 7_000 },
        { uid: "b", atMs: 6_000 },
      ]);
      expect(await store.changedThreads(SLUG, { sinceMs: 5_000, limit: 1 })).toEqual([
        { uid: "a", atMs: 7_000 },
      ]);
      expect(await store.changedThreads(SLUG, { sinceMs: 7_001, limit: 10 })).toEqual([]);
    });

    it("changes of a deleted thread are told no more, and hide no others", async () => {
      const { store } = bench.it;
      const rests = { claims: false, rev: 1, state: "awaiting", holds: false, deadlineMs: 90_000 } as const;
      for (const [uid, atMs] of [
        ["a", 7_000],
        ["b", 8_000],
      ] as const) {
        await addThread(store, "u1", uid, 1_000);
        await say(store, uid, 5_000, { holds: true, state: "running" });
        await say(store, uid, 0, { ...rests, opId: "rest", messages: [], atMs });
      }
      const latest = async () => (await store.changedThreads(SLUG, { sinceMs: 6_000, limit: 1 }))[0]?.uid;
      await expect.poll(latest, { timeout: 20_000 }).toBe("b");
      const deletion = { kind: "thread", slug: SLUG, id: "b", atMs: 9_000 } as const;
      await store.unlistThread(deletion);
      expect(await latest()).toBe("a");
      await store.unlistThread({ ...deletion, id: "a" });
      expect(await latest()).toBeUndefined();
    });

    it("blocked users have a list of their own", async () => {
      const { store } = bench.it;
      const page = { limit: 10, after: null, order: "newest first", blocked: true } as const;
      const blocked = async () =>
        (await store.usersPage(SLUG, page)).items.map(({ user: { userId } }) => userId);
      await store.flagUser(SLUG, "u2", { blocked: true });
      expect(await blocked()).toEqual(["u2"]);
      await store.flagUser(SLUG, "u1", { blocked: true });
      expect((await blocked()).toSorted()).toEqual(["u1", "u2"]);
      await store.flagUser(SLUG, "u2", { blocked: false });
      expect(await blocked()).toEqual(["u1"]);
    });
  });
}
