import { describe, expect, it } from "vitest";
import type { Rating, Store } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { BUDGET_CHARS, SLUG, sampleCommit, sampleMessage } from "../samples.ts";

const reply = sampleMessage(2, { role: "assistant", content: "Grüße 👋", kept: { parts: 1, chars: 4 } });
const messages = [
  sampleMessage(1),
  reply,
  sampleMessage(3, { role: "assistant", author: { type: "person", name: "Ada" } }),
];
const up = { rating: "up" as const, atMs: 5 };
const down = { rating: "down" as const, comment: "Nein.\n👎", atMs: 6 };

let ops = 0;
function rate(store: Store, feedback: Rating["feedback"], changes: Partial<Rating> = {}) {
  const asked = { uid: "t1", opId: `rates-${++ops}`, messageId: "2", feedback, atMs: 7, tells: [] };
  return store.rate({ ...asked, ...changes });
}

/** Held, in the middle of a run. */
async function running(store: Store): Promise<string> {
  const fence = `${store.processId}:a`;
  await store.commit(sampleCommit({ opId: "begin", fence, messages }));
  await store.keepPart({ uid: "t1", fence, runId: "r1", nth: 0, text: "Also" });
  return fence;
}

async function shown(store: Store) {
  const page = await store.history("t1", { limit: 9, before: null });
  const { messages: seen } = await store.look("t1", 0);
  expect(seen).toEqual(page);
  return page.map(({ feedback = null }) => feedback);
}

export function feedbackPromises(bench: Bench): void {
  describe("rate()", () => {
    it("keeps the latest rating of a reply, beside everything else of it", async () => {
      const { store } = bench.it;
      await running(store);
      expect(await rate(store, up)).toMatchObject({ type: "rated", before: null });
      expect(await rate(store, down)).toMatchObject({ type: "rated", before: up });
      expect(await shown(store)).toEqual([null, down, null]);
      const [, whole] = await store.history("t1", { limit: 9, before: null });
      expect(whole).toEqual({ ...reply, content: `Also${reply.content}`, kept: undefined, feedback: down });
      expect(await rate(store, null)).toMatchObject({ type: "rated", before: down });
      expect(await shown(store)).toEqual([null, null, null]);
    });

    it("finds no reply in what a person wrote", async () => {
      const { store } = bench.it;
      await running(store);
      for (const messageId of ["1", "3"]) {
        expect(await rate(store, up, { messageId })).toEqual({ type: "not-found" });
      }
    });

    it("does not disturb a run in progress: its fence, revision and last operation stay", async () => {
      const { store } = bench.it;
      const fence = await running(store);
      const { tail: _, ...before } = (await store.load("t1", BUDGET_CHARS)) ?? { tail: [] };
      await rate(store, up);
      const { tail: __, ...after } = (await store.load("t1", BUDGET_CHARS)) ?? { tail: [] };
      expect(after).toEqual(before);
      const next = sampleCommit({ opId: "next", fence, claims: false, rev: 1, messages: [sampleMessage(4)] });
      expect(await store.commit(next)).toMatchObject({ type: "committed", rev: 2 });
      expect(await shown(store)).toEqual([null, up, null, null]);
    });

    it("tells in the thread's order, with what commits tell", async () => {
      const { store } = bench.it;
      const { outbox } = store;
      if (!outbox) return;
      const fence = await running(store);
      const telling = (id: string) => ({
        event: { id, type: "feedback.given" as const, atMs: 7, data: { rating: "up" } },
        endpoints: ["e1", "e2"],
      });
      const ref = (nth: string, endpoint: string) => ({ slug: SLUG, endpoint, uid: "t1", nth });
      const rated = await rate(store, up, { tells: [telling("one")] });
      expect(rated).toMatchObject({ type: "rated", unqueued: [ref("1", "e1"), ref("1", "e2")] });
      expect(await rate(store, up, { tells: [telling("again")] })).toEqual({ type: "unchanged" });
      const more = { claims: false, rev: 1, tells: [telling("two")] };
      await store.commit(sampleCommit({ opId: "next", fence, ...more }));
      await rate(store, down, { tells: [telling("three")] });
      expect(await outbox.told("t1")).toBe(3);
      const texts = ["1", "2", "3"].map((nth) => outbox.event(ref(nth, "e2")));
      expect((await Promise.all(texts)).map((text) => text?.type === "told" && text.text)).toEqual(
        ["one", "two", "three"].map((id) => JSON.stringify(telling(id).event)),
      );
    });
  });
}
