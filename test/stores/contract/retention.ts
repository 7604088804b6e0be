import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { SLUG, sampleChannel, sampleCommit, sampleMessage, sampleWaiting } from "../samples.ts";
import { addThread, mint } from "../users.ts";

const HASH = "1".repeat(64);

/** A thread of u1 in which the last message is of that time. */
async function spokenAt(store: Store, uid: string, atMs: number, state: "idle" | "running" = "idle") {
  await addThread(store, "u1", uid, 1);
  const fence = `${store.processId}:${uid}`;
  const messages = [sampleMessage(1, { createdAtMs: atMs })];
  const holds = state === "running";
  await store.commit(sampleCommit({ uid, opId: `say ${uid}`, fence, messages, state, holds, atMs }));
}

/** What rests since then, once it is in the order. */
function resting(store: Store, untilMs: number, limit = 9) {
  return store.restingThreads(SLUG, { untilMs, limit, after: null });
}

export function retentionPromises(bench: Bench): void {
  describe("what is past its date", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel()));

    it("unlistUser() takes along what webhooks were not told yet of the user, but for the deletion itself", async () => {
      const { store } = bench.it;
      const telling = (id: string, type: string, data: object) => ({
        id,
        endpoint: "hook",
        atMs: 1,
        body: JSON.stringify({ type, data }),
      });
      await mint(store, HASH, "u1");
      const { visitor } = await store.readIdentity(SLUG, HASH, "kim");
      if (!visitor) throw new Error("Cannot promote: there is no visitor");
      const tells = [
        telling("one", "user.identified", { userId: "u1", externalUserId: "kim" }),
        telling("merged", "user.identified", { userId: "u2", mergedUserId: "u1" }),
        telling("others", "user.identified", { userId: "u2", externalUserId: "u1" }),
      ];
      const promotion = { slug: SLUG, tokenHash: HASH, externalId: "kim", user: visitor.user };
      expect(await store.promote({ ...promotion, snapshot: "bound", tells })).toBe("done");
      const deletion = { kind: "user", slug: SLUG, id: "u1", atMs: 9_000 } as const;
      await store.unlistUser(deletion, [telling("gone", "user.deleted", { userId: "u1" })]);
      const isThere = async (nth: string) =>
        (await store.outbox?.event({ slug: SLUG, endpoint: "hook", uid: null, nth })) !== null;
      const there = await Promise.all(["one", "merged", "others", "gone"].map(isThere));
      expect(there).toEqual([false, false, true, true]);
    });

    it("restingThreads() begins with what rests longest, a page at a time, up to a time", async () => {
      const { store } = bench.it;
      await mint(store, HASH, "u1");
      for (const [uid, atMs] of [
        ["c", 300],
        ["a", 100],
        ["b", 200],
        ["late", 400],
      ] as const)
        await spokenAt(store, uid, atMs);
      await addThread(store, "u1", "silent", 50);
      const uids = async () => (await resting(store, 300)).items.map(({ uid }) => uid);
      await expect.poll(uids, { timeout: 30_000 }).toEqual(["silent", "a", "b", "c"]);
      const first = await resting(store, 300, 3);
      expect(first.items.map(({ uid }) => uid)).toEqual(["silent", "a", "b"]);
      expect(first.items[1]).toEqual({ uid: "a", updatedAtMs: 100, state: "idle", isHeld: false, rev: 1 });
      const rest = await store.restingThreads(SLUG, { untilMs: 300, limit: 3, after: first.next });
      expect(rest).toMatchObject({ items: [{ uid: "c" }], next: null });
      expect((await resting(store, 40)).items).toEqual([]);
    });

    it("restingThreads() says of a thread what it is doing, and of a tombstone that it is one", async () => {
      const { store } = bench.it;
      await mint(store, HASH, "u1");
      await spokenAt(store, "a", 100, "running");
      await spokenAt(store, "b", 200, "running");
      await store.eraseThread("b", 9_000);
      await spokenAt(store, "c", 250, "running");
      await store.wait("c", sampleWaiting("w1"), 1);
      const ends = { uid: "c", opId: "end c", fence: `${store.processId}:c`, rev: 1, claims: false };
      await store.commit(sampleCommit({ ...ends, messages: [], state: "idle", holds: false, atMs: 250 }));
      const found = async () => (await resting(store, 300)).items;
      await expect.poll(found, { timeout: 30_000 }).toMatchObject([
        { uid: "a", state: "running", isHeld: true, rev: 1 },
        { uid: "b", isHeld: false, rev: null },
        { uid: "c", state: "idle", isHeld: true, rev: 2 },
      ]);
    });

    it("eraseUnchanged() does nothing where something was said meanwhile", async () => {
      const { store } = bench.it;
      await mint(store, HASH, "u1");
      await spokenAt(store, "a", 100);
      expect(await store.eraseUnchanged("a", 9_000, 0)).toBeNull();
      expect((await store.look("a", null)).messageCount).toBe(1);
      expect(await store.eraseUnchanged("a", 9_000, 1)).toMatchObject({ fence: null });
      // A tombstone is nobody's any more, whatever is asked of it.
      expect(await store.eraseUnchanged("a", 9_000, 7)).not.toBeNull();
      expect(await store.eraseUnchanged("unknown", 9_000, 0)).not.toBeNull();
    });
  });
}
