import { describe, expect, it, vi } from "vitest";
import type { TestContext } from "vitest";
import { RETIRED } from "../../../src/store.ts";
import type { InstanceMessage, Store } from "../../../src/store.ts";
import type { Bench, Lack } from "./contract.ts";
import { sampleCommit, sampleWaiting } from "../samples.ts";

export function livenessPromises(bench: Bench, lacks: readonly Lack[]): void {
  describe("liveness", () => {
    const byUid = (held: { uid: string; fence: string }[]) =>
      held.toSorted((a, b) => a.uid.localeCompare(b.uid));

    it("P9: heldBy() lists the threads that a process holds, until it lets go", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      await store.commit(sampleCommit({ uid: "t1", opId: "1", fence }));
      await store.commit(sampleCommit({ uid: "t2", opId: "2", fence }));
      await store.commit(sampleCommit({ uid: "t3", opId: "3", fence, holds: false }));
      expect(byUid(await store.heldBy(store.processId))).toEqual([
        { uid: "t1", fence },
        { uid: "t2", fence },
      ]);
      expect(await store.heldBy("nobody")).toEqual([]);
      await store.commit(sampleCommit({ uid: "t1", opId: "4", fence, claims: false, rev: 1, holds: false }));
      expect(await store.heldBy(store.processId)).toEqual([{ uid: "t2", fence }]);
    });

    it("P9: a takeover moves the thread from the lost process's list to the other's", async () => {
      const { store, reopen } = bench.it;
      const lostProcess = store.processId;
      const lost = `${lostProcess}:a`;
      await store.commit(sampleCommit({ opId: "1", fence: lost }));
      const again = await reopen();
      expect(again.processId).not.toBe(lostProcess);
      expect(await again.heldBy(lostProcess)).toEqual([{ uid: "t1", fence: lost }]);
      const fence = `${again.processId}:b`;
      await again.commit(sampleCommit({ opId: "2", fence, takesFrom: lost, rev: 1, readOp: "1" }));
      expect(await again.heldBy(lostProcess)).toEqual([]);
      expect(await again.heldBy(again.processId)).toEqual([{ uid: "t1", fence }]);
      await again.forget({ processId: lostProcess, stamp: "1" });
      expect(await again.heldBy(again.processId)).toEqual([{ uid: "t1", fence }]);
    });

    it("heldBy(null) lists what every process but this one holds, on the embedded store", async (context) => {
      const { store, reopen } = bench.it;
      if (store.kind !== "embedded") return context.skip();
      const lost = `${store.processId}:a`;
      await store.commit(sampleCommit({ uid: "t1", opId: "1", fence: lost }));
      await store.commit(sampleCommit({ uid: "t2", opId: "2", fence: "zz-another:b" }));
      expect(await store.heldBy(null)).toEqual([{ uid: "t2", fence: "zz-another:b" }]);
      const again = await reopen();
      await again.commit(sampleCommit({ uid: "t3", opId: "3", fence: `${again.processId}:a` }));
      expect(byUid(await again.heldBy(null))).toEqual([
        { uid: "t1", fence: lost },
        { uid: "t2", fence: "zz-another:b" },
      ]);
    });

    it("due() lists threads whose pending call has expired, at most `limit`, and only while they rest", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      const rests = { fence, state: "awaiting" as const, holds: false, deadlineMs: 100 };
      await store.commit(sampleCommit({ opId: "1", ...rests }));
      await store.commit(sampleCommit({ uid: "t2", opId: "2", ...rests, deadlineMs: 101 }));
      expect(await store.due(99, 10)).toEqual([]);
      expect(await store.due(100, 10)).toEqual(["t1"]);
      expect(await store.due(101, 1)).toHaveLength(1);
      await store.commit(sampleCommit({ uid: "t2", opId: "claim", fence, rev: 1, readOp: "2" }));
      await store.commit(sampleCommit({ opId: "2", fence, rev: 1, readOp: "1" }));
      expect(await store.due(1_000, 10)).toEqual([]);
      // Rests again, later.
      await store.commit(sampleCommit({ opId: "3", ...rests, claims: false, rev: 2, deadlineMs: 500 }));
      expect(await store.due(499, 10)).toEqual([]);
      expect(await store.due(500, 10)).toEqual(["t1"]);
      // A waiting message keeps it held, so that it is not at rest.
      await store.commit(sampleCommit({ opId: "4", fence, rev: 3, readOp: "3" }));
      await store.wait("t1", sampleWaiting("w1"), 8);
      await store.commit(sampleCommit({ opId: "5", ...rests, claims: false, rev: 4 }));
      expect(await store.due(1_000, 10)).toEqual([]);
    });

    const stampOf = async (store: Store, { processId }: Store) =>
      (await store.beat()).find((heartbeat) => heartbeat.processId === processId)?.stamp;

    /** With another process; skipped where the store has but one. */
    const beside = (test: (store: Store, other: Store) => Promise<void>) => async (context: TestContext) => {
      const other = await bench.it.another();
      if (other === null) return context.skip();
      await test(bench.it.store, other);
    };

    it.skipIf(lacks.includes("beats"))(
      "P9: beat() answers everybody else's heartbeat, which is another one with each beat",
      beside(async (store, other) => {
        expect(await store.beat()).toEqual([]);
        const stamps = new Set<string | undefined>();
        for (let beats = 0; beats < 20; beats++) {
          await other.beat();
          const stamp = await stampOf(store, other);
          expect(await stampOf(store, other)).toBe(stamp);
          stamps.add(stamp);
        }
        expect(stamps.size).toBe(20);
        expect([...stamps].filter((stamp) => stamp === undefined || stamp === RETIRED)).toEqual([]);
      }),
    );

    it.skipIf(lacks.includes("beats"))(
      "P29: who retired is known by its stamp",
      beside(async (store, other) => {
        await other.beat();
        expect(await stampOf(store, other)).not.toBe(RETIRED);
        await other.retire();
        expect(await stampOf(store, other)).toBe(RETIRED);
      }),
    );

    it.skipIf(lacks.includes("beats"))(
      "P9: who is forgotten has no heartbeat, until it beats again",
      beside(async (store, other) => {
        await other.beat();
        const [seen] = await store.beat();
        await store.forget(seen!);
        expect(await store.beat()).toEqual([]);
        // It only slept.
        await other.beat();
        expect(await stampOf(store, other)).toBeDefined();
      }),
    );

    it.skipIf(lacks.includes("beats"))(
      "P9: nobody is forgotten who has beaten since, or holds a thread",
      beside(async (store, other) => {
        await other.beat();
        const [seen] = await store.beat();
        await other.beat();
        await store.forget(seen!);
        const [later] = await store.beat();
        expect(later?.processId).toBe(other.processId);
        const fence = `${other.processId}:a`;
        await other.commit(sampleCommit({ opId: "1", fence }));
        await store.forget(later!);
        expect(await store.beat()).toEqual([later]);
        await other.commit(sampleCommit({ opId: "2", fence, claims: false, rev: 1, holds: false }));
        await store.forget(later!);
        expect(await store.beat()).toEqual([]);
      }),
    );

    it.skipIf(lacks.includes("beats"))(
      "P9: enter() gives an unknown process a heartbeat, and leaves that of a known one",
      beside(async (store, other) => {
        await other.beat();
        const [known] = await store.beat();
        await store.enter(["unknown", other.processId]);
        const heartbeats = await store.beat();
        expect(heartbeats.map(({ processId }) => processId).toSorted()).toEqual(
          ["unknown", other.processId].toSorted(),
        );
        expect(heartbeats).toContainEqual(known);
        // If it lives, it beats; if not, its heartbeat stays as it is.
        expect(await store.beat()).toEqual(heartbeats);
        await store.enter([]);
      }),
    );

    it.skipIf(lacks.includes("beats"))(
      "P9: holders() lists who holds something, each thread in one share at least, until it is forgotten",
      async () => {
        const { store } = bench.it;
        const all = async (of: number) => {
          const shares = Array.from({ length: of }, (_, rank) => store.holders({ rank, of }));
          return [...new Set((await Promise.all(shares)).flat())].toSorted();
        };
        expect(await all(1)).toEqual([]);
        for (const process of ["p1", "p2", "p3"]) {
          await store.commit(sampleCommit({ uid: process, opId: process, fence: `${process}:a` }));
        }
        for (const of of [1, 2, 7, 300]) expect(await all(of)).toEqual(["p1", "p2", "p3"]);
        // Who released all it held is on the list still, and no harm is in it.
        const release = { fence: "p1:a", claims: false, rev: 1, holds: false };
        await store.commit(sampleCommit({ uid: "p1", opId: "release", ...release }));
        expect(await all(1)).toEqual(["p1", "p2", "p3"]);
        await store.forget({ processId: "p1", stamp: "1" });
        await store.forget({ processId: "p2", stamp: "1" });
        expect(await all(1)).toEqual(["p2", "p3"]);
      },
    );

    it("heldBy() and due() answer what is in a share, and the shares together answer all", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      const uids = Array.from({ length: 12 }, (_, nth) => `t${nth}`);
      for (const uid of uids) {
        await store.commit(sampleCommit({ uid, opId: uid, fence }));
        const rests = { state: "awaiting" as const, holds: false, deadlineMs: 100 };
        await store.commit(sampleCommit({ uid: `r${uid}`, opId: uid, fence, ...rests }));
      }
      for (const of of [1, 3, 300]) {
        const shares = Array.from({ length: of }, (_, rank) => ({ rank, of }));
        const held = await Promise.all(shares.map((share) => store.heldBy(store.processId, share)));
        expect([...new Set(held.flat().map(({ uid }) => uid))].toSorted()).toEqual(uids.toSorted());
        const due = await Promise.all(shares.map((share) => store.due(100, 100, share)));
        expect([...new Set(due.flat())].toSorted()).toEqual(uids.map((uid) => `r${uid}`).toSorted());
      }
    });

    it("retire() is fine at any time; beat() does not answer the heartbeat of who just beat", async () => {
      const { store } = bench.it;
      await store.retire();
      for (let beats = 0; beats < 2; beats++) expect(await store.beat()).toEqual([]);
      await store.retire();
    });

    it("a message reaches this process itself", async () => {
      const { store } = bench.it;
      const handler = vi.fn<(message: InstanceMessage) => void>();
      store.onMessage(handler);
      store.send(store.processId, { type: "hello", text: "Grüße\n👋", list: [1, null] });
      const message = { type: "hello", text: "Grüße\n👋", list: [1, null] };
      await vi.waitFor(() => expect(handler).toHaveBeenCalledWith(message), { timeout: 60_000 });
    });

    it(
      "a message reaches the other process, and no third",
      beside(async (store, other) => {
        const [here, there] = [
          vi.fn<(message: InstanceMessage) => void>(),
          vi.fn<(message: InstanceMessage) => void>(),
        ];
        store.onMessage(here);
        other.onMessage(there);
        store.send(other.processId, { line: 1 });
        store.send(other.processId, { line: 2 });
        await vi.waitFor(() => expect(there.mock.calls).toEqual([[{ line: 1 }], [{ line: 2 }]]), {
          timeout: 60_000,
        });
        expect(here).not.toHaveBeenCalled();
      }),
    );

    it(
      "a message that was sent just before the store was closed reaches the other process",
      beside(async (store, other) => {
        const told = vi.fn<(message: InstanceMessage) => void>();
        store.onMessage(told);
        for (let line = 1; line <= 20; line++) other.send(store.processId, { line });
        await other.close();
        await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(20), { timeout: 60_000 });
      }),
    );

    it("a message to a process that is gone is lost in silence", () => {
      expect(() => bench.it.store.send("gone", { line: 1 })).not.toThrow();
    });

    it("P24: a closed store rejects, and closing twice is fine", async () => {
      const { store } = bench.it;
      expect(store.processId).toMatch(/^[\w-]{8,}$/);
      expect(await store.health()).toMatchObject({ reachable: true });
      await store.close();
      await store.close();
      await expect(store.commit(sampleCommit({ opId: "1", fence: "p:a" }))).rejects.toThrow("Cannot");
      await expect(store.load("t1", 10)).rejects.toThrow("Cannot");
      expect((await store.health()).reachable).toBe(false);
    });
  });
}
