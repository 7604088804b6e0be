import { describe, expect, it } from "vitest";
import type { Delivery, OutboxStore, Store, ToldRef } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { SLUG, sampleCommit } from "../samples.ts";

const [A, B] = ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"];
const HOUR_MS = 3_600_000;
/** Later than any time of these tests, and before what was given up. */
const LATER_MS = 4e12;
const DUE_MS = 2e12;

const ref = (nth: number, endpoint = A, uid = "t1"): ToldRef => ({
  slug: SLUG,
  endpoint,
  uid,
  nth: String(nth),
});

const delivery: Delivery = {
  id: "msg_1",
  event: "run.ended",
  atMs: 5,
  attempt: 1,
  status: 500,
  fault: "status 500",
  elapsedMs: 3,
};

/** Tells both endpoints of so many events, and queues them. */
async function told(store: Store, outbox: OutboxStore, events: number, uid = "t1"): Promise<void> {
  const tells = Array.from({ length: events }, (_, i) => ({
    event: { id: `msg_${i + 1}`, type: "run.ended" as const, atMs: 1_000 + i, data: {} },
    endpoints: [A, B],
  }));
  const committed = await store.commit(
    sampleCommit({ uid, opId: `tells ${uid}`, fence: `${store.processId}:${uid}`, tells }),
  );
  if (committed.type !== "committed") throw new Error(`Cannot tell: ${committed.type}`);
  await outbox.queue(committed.unqueued ?? []);
}

const nths = (events: readonly ToldRef[]) => events.map(({ uid, nth }) => `${uid} ${nth}`);

export function outboxPromises(bench: Bench): void {
  describe("the outbox", () => {
    async function opened(events = 3) {
      const { store } = bench.it;
      const { outbox } = store;
      if (!outbox) throw new Error("Cannot tell: the store has no outbox");
      await told(store, outbox, events);
      const due = (endpoint = A) => outbox.due(SLUG, endpoint, { nowMs: LATER_MS, limit: 99 });
      return { store, outbox, due };
    }

    it("has each event once for each endpoint, in order, also where it is queued again", async () => {
      const { store, outbox, due } = await opened();
      await outbox.queue([ref(1), ref(2)]);
      await told(store, outbox, 1, "t2");
      expect(nths(await due())).toEqual(["t1 1", "t1 2", "t1 3", "t2 1"]);
      expect(nths(await due(B))).toEqual(["t1 1", "t1 2", "t1 3", "t2 1"]);
      expect((await outbox.endpoints(SLUG)).sort()).toEqual([A, B]);
    });

    it("has each of many events that two processes queue at once, in order within its thread", async () => {
      const { store, outbox, due } = await opened(1);
      const other = (await bench.it.another())?.outbox ?? outbox;
      const uids = Array.from({ length: 40 }, (_, nth) => `u${nth}`);
      await Promise.all(uids.map((uid, nth) => told(store, nth % 2 ? outbox : other, 2, uid)));
      const queued = nths(await due());
      expect(queued).toHaveLength(81);
      for (const uid of uids) {
        expect(queued.filter((event) => event.startsWith(`${uid} `))).toEqual([`${uid} 1`, `${uid} 2`]);
      }
    });

    it("keeps what is sent, once, and forgets it when it is settled", async () => {
      const { outbox, due } = await opened();
      const sealed = { id: "msg_1", body: '{"type":"run.ended"}\n' };
      expect(await outbox.event(ref(1))).toMatchObject({ type: "told" });
      expect(await outbox.seal(ref(1), sealed)).toMatchObject(sealed);
      expect(await outbox.seal(ref(1), { id: "msg_1", body: "another" })).toMatchObject(sealed);
      expect(await outbox.event(ref(1))).toEqual({ type: "sealed", ...sealed });
      await outbox.settled(ref(1), { ...delivery, status: 204, fault: null });
      expect(await outbox.event(ref(1))).toBeNull();
      expect(await outbox.seal(ref(1), sealed)).toBeNull();
      expect(nths(await due())).toEqual(["t1 2", "t1 3"]);
      expect(nths(await due(B))).toHaveLength(3);
      expect((await outbox.endpoint(SLUG, A)).deliveries).toEqual([
        { ...delivery, status: 204, fault: null },
      ]);
    });

    it("replaces what is sealed for who knows it, and tells what is not settled, queued or not", async () => {
      const { outbox } = await opened();
      const sealed = { id: "msg_1", body: "{}" };
      expect(await outbox.reseal(ref(1), sealed, "first")).toBe(false);
      await outbox.seal(ref(1), sealed);
      expect(await outbox.reseal(ref(1), sealed, "first")).toBe(true);
      expect(await outbox.reseal(ref(1), sealed, "first")).toBe(true);
      expect(await outbox.reseal(ref(1), sealed, "second")).toBe(false);
      expect(await outbox.event(ref(1))).toEqual({ type: "sealed", id: "msg_1", body: "first" });
      expect(await outbox.unsettled("t1", A)).toEqual(["1", "2", "3"]);
      await outbox.settled(ref(2), null);
      expect(await outbox.unsettled("t1", A)).toEqual(["1", "3"]);
      await outbox.settled(ref(1), null);
      expect(await outbox.reseal(ref(1), { ...sealed, body: "first" }, "second")).toBe(false);
      expect(await outbox.unsettled("nobody", A)).toEqual([]);
    });

    it("puts what failed behind, until it is due, replayed, or given up", async () => {
      const { outbox } = await opened();
      const dueAt = async (nowMs: number) => nths(await outbox.due(SLUG, A, { nowMs, limit: 99 }));
      await outbox.failed(ref(1), { attempts: 1, dueMs: DUE_MS }, delivery);
      await outbox.failed(ref(2), { attempts: 9, dueMs: null }, delivery);
      expect(await dueAt(DUE_MS - 1)).toEqual(["t1 3"]);
      expect(await dueAt(DUE_MS)).toEqual(["t1 3", "t1 1"]);
      await outbox.settled(ref(3), null);
      expect(await outbox.nextDueMs(SLUG, A)).toBe(DUE_MS);
      const [most] = await outbox.longestWaiting(SLUG, A, 1);
      expect(most).toMatchObject({ ...ref(2), attempts: 9, dueMs: null });
      expect(await outbox.replay(SLUG, A)).toBe(2);
      expect(await dueAt(0)).toEqual(["t1 1", "t1 2"]);
      expect(await outbox.nextDueMs(SLUG, A)).toBe(0);
    });

    it("says how far an endpoint is behind, without what was given up", async () => {
      const { outbox } = await opened(4);
      await outbox.settled(ref(1), null);
      await outbox.failed(ref(2), { attempts: 2, dueMs: DUE_MS + HOUR_MS }, delivery);
      await outbox.failed(ref(3), { attempts: 1, dueMs: DUE_MS }, delivery);
      const level = await outbox.level(SLUG, A);
      expect({ ...level, oldest: nths(level.oldest) }).toEqual({
        waiting: 3,
        oldest: ["t1 4", "t1 2"],
        isOff: false,
      });
      await outbox.settled(ref(4), null);
      await outbox.failed(ref(2), { attempts: 20, dueMs: null }, delivery);
      await outbox.switchEndpoint(SLUG, A, 7);
      const now = await outbox.level(SLUG, A);
      expect({ ...now, oldest: nths(now.oldest) }).toEqual({ waiting: 1, oldest: ["t1 3"], isOff: true });
      expect((await outbox.level(SLUG, B)).waiting).toBe(4);
      expect(await outbox.level(SLUG, "cccccccccccccccc")).toEqual({ waiting: 0, oldest: [], isOff: false });
    });

    it("sends nothing to an endpoint that is off, and forgets one with what waits for it", async () => {
      const { outbox } = await opened();
      await outbox.switchEndpoint(SLUG, A, 7);
      expect(await outbox.nextDueMs(SLUG, A)).toBeNull();
      expect(await outbox.nextDueMs(SLUG, B)).toBe(0);
      expect(await outbox.endpoint(SLUG, A)).toMatchObject({ waiting: 3, offSinceMs: 7 });
      await outbox.switchEndpoint(SLUG, A, null);
      expect(await outbox.nextDueMs(SLUG, A)).toBe(0);
      for (const nth of [1, 2, 3]) await outbox.settled(ref(nth), null);
      await outbox.forgetEndpoint(SLUG, A);
      expect(await outbox.endpoints(SLUG)).toEqual([B]);
    });
  });
}
