import { beforeEach, describe, expect, it } from "vitest";
import type { ListedThread, Store } from "../../../src/store.ts";
import { FEW_THREADS } from "../../../src/stores/thread-order.ts";
import type { Bench } from "./contract.ts";
import { SLUG, sampleChannel, sampleCommit, sampleMessage } from "../samples.ts";
import { addThread, mint } from "../users.ts";

const userId = "u1";

async function addThreads(store: Store, count: number): Promise<string[]> {
  const uids = Array.from({ length: count }, (_, nth) => `t${String(nth).padStart(4, "0")}`);
  for (const [nth, uid] of uids.entries()) await addThread(store, userId, uid, 1_000 + nth);
  return uids;
}

/** A message in a thread that nobody has spoken in. */
async function say(store: Store, uid: string, atMs: number, changes: { holds?: boolean } = {}) {
  const { holds = false } = changes;
  const messages = [sampleMessage(1, { createdAtMs: atMs })];
  const state = holds ? ("running" as const) : ("idle" as const);
  const commit = { uid, opId: `say in ${uid}`, fence: `${store.processId}:a`, messages, holds, state };
  expect(await store.commit(sampleCommit(commit))).toMatchObject({ type: "committed" });
}

/** Page after page; every thread is on one of them, once. */
async function walk(store: Store, limit: number): Promise<ListedThread[]> {
  const all: ListedThread[] = [];
  let page = await store.listThreads({ slug: SLUG, userId, limit, after: null });
  for (;;) {
    all.push(...page.items);
    if (page.next === null) break;
    expect(page.items).toHaveLength(limit);
    page = await store.listThreads({ slug: SLUG, userId, limit, after: page.next });
  }
  expect(new Set(all.map(({ uid }) => uid)).size).toBe(all.length);
  return all;
}

export function threadListPromises(bench: Bench): void {
  describe("a user's threads by activity", () => {
    beforeEach(async () => {
      await bench.it.store.putChannel(sampleChannel());
      await mint(bench.it.store, "h1", userId);
    });

    it.each([
      ["few", FEW_THREADS],
      ["many", FEW_THREADS + 20],
    ])("pages of %s threads have each of them once, in order", async (_few, count) => {
      const { store } = bench.it;
      const uids = await addThreads(store, count);
      const [active = "", later = ""] = [uids[3], uids[50]];
      await say(store, active, 50_000);
      await say(store, later, 60_000);
      const untouched = uids.filter((uid) => uid !== active && uid !== later).toReversed();
      for (const limit of [7, 100]) {
        expect((await walk(store, limit)).map(({ uid }) => uid)).toEqual([later, active, ...untouched]);
      }
    });

    it("of many threads, one that goes on comes up", async () => {
      const { store } = bench.it;
      const uids = await addThreads(store, FEW_THREADS + 5);
      // The order of all is known by now.
      await walk(store, 100);
      await say(store, uids[2] ?? "", 70_000, { holds: true });
      const first = () => store.listThreads({ slug: SLUG, userId, limit: 1, after: null });
      await expect
        .poll(async () => (await first()).items, { timeout: 20_000 })
        .toMatchObject([{ uid: uids[2], updatedAtMs: 70_000, state: "running" }]);
    });
  });
}
