// For src/stores/engine.ts, src/stores/steps/codec.ts, src/stores/steps/store.ts,
// src/stores/steps/threads/salvage.ts, src/stores/tables.ts
import { expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { LockedRecord, UnreadableRecord } from "../../../src/store.ts";
import { slotOf } from "../../../src/stores/engine.ts";
import type { Engine } from "../../../src/stores/engine.ts";
import type { SealingOptions } from "../../../src/stores/steps/codec.ts";
import { storeOn } from "../../../src/stores/steps/store.ts";
import { HEADER, tables } from "../../../src/stores/tables.ts";
import { encryptedForAnybody } from "../../support/stores/content-keys.ts";
import { BUDGET_CHARS, SLUG, sampleCommit, sampleMessage, sampleRun, sampleWaiting } from "../samples.ts";
import { createMemoryEngine } from "./memory-engine.ts";

/** A held thread with three messages, a run and two waiting messages, of which something is overwritten. */
async function damaged(sealing: SealingOptions, ...fields: [key: (uid: string) => string, field: string][]) {
  const engine = createMemoryEngine(systemClock);
  const store = await storeOn(engine, { clock: systemClock, log: { warn() {} }, ...sealing });
  const messages = [1, 2, 3].map((nth) => sampleMessage(nth));
  const fence = `${store.processId}:a`;
  await store.setCatalog("t1", SLUG, [{ name: "cart" }]);
  await store.commit(
    sampleCommit({ opId: "a", fence, messages, endedRun: sampleRun("r0", { outcome: "superseded" }) }),
  );
  for (const runId of ["w1", "w2"]) await store.wait("t1", sampleWaiting(runId), 8);
  for (const [keyOf, field] of fields) {
    const key = keyOf("t1");
    await engine.apply({
      slot: slotOf(key),
      checks: [],
      writes: [{ write: "set", key, fields: [[field, "0\n{oops"]] }],
    });
  }
  return { engine, store, fence };
}

/** One character of each sealed text in it is another one. */
async function change(engine: Engine, { key, field }: { key: string; field: string }): Promise<void> {
  const [[stored]] = await engine.read([{ read: "fields", key, fields: [field] }]);
  const text = String(stored).replaceAll(/enc:v1:[^"]+/g, (sealed) => {
    const at = sealed.length - 30;
    return `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`;
  });
  expect(text).not.toBe(stored);
  await engine.apply({
    slot: slotOf(key),
    checks: [],
    writes: [{ write: "set", key, fields: [[field, text]] }],
  });
}

it("P8: what can be read of a damaged thread is salvaged, the rest is set aside, and the thread is loaded again", async () => {
  const { engine, store, fence } = await damaged(
    {},
    [tables.messages.key, "2"],
    [tables.waiting.key, "w1"],
    [tables.runs.key, "r0"],
    [tables.header.key, HEADER.catalog],
    [tables.header.key, HEADER.run],
    [tables.header.key, HEADER.state],
  );
  await expect(store.load("t1", BUDGET_CHARS)).rejects.toThrow(UnreadableRecord);

  const salvage = await store.salvage("t1", BUDGET_CHARS);
  expect(salvage?.parts.map(({ part, place }) => `${part} ${place}`.trim()).toSorted()).toEqual([
    "catalog",
    "message 2",
    "run",
    "state",
    "summary r0",
    "waiting w1",
  ]);
  const record = {
    uid: "t1",
    slug: SLUG,
    rev: 1,
    lastOp: "a",
    fence,
    state: "idle",
    snapshot: "snapshot of a",
    catalog: [],
    run: null,
    tail: [sampleMessage(1), sampleMessage(3)],
    messageCount: 3,
    waitingCount: 2,
  };
  expect(salvage).toMatchObject({ record });

  for (let time = 0; time < 2; time++) await store.setAside("t1", salvage?.parts ?? []);
  const [aside] = await engine.read([{ read: "hash", key: tables.aside.key("t1") }]);
  expect(aside).toHaveLength(6);
  expect(await store.waitingRuns("t1")).toEqual(["w2"]);
  expect(await store.runs("t1", 9)).toEqual([]);
  expect(await store.history("t1", { limit: 9, before: null })).toEqual(record.tail);
  // The next commit replaces the rest.
  const next = sampleCommit({ opId: "b", fence, claims: false, rev: 1 });
  expect(await store.commit(next)).toMatchObject({ type: "committed", next: sampleWaiting("w2") });
  expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({ state: "running", run: sampleRun("r1") });
});

it("what is sealed and damaged is set aside, unless nothing opens by its key", async () => {
  const { engine, store } = await damaged(encryptedForAnybody());
  const message = { key: tables.messages.key("t1"), field: "2" };
  const parts = [message, { key: tables.waiting.key("t1"), field: "w1" }];
  const snapshot = { key: tables.header.key("t1"), field: HEADER.snapshot };
  for (const one of parts) await change(engine, one);
  const salvage = await store.salvage("t1", BUDGET_CHARS);
  expect(salvage?.parts.map(({ part, place }) => `${part} ${place}`)).toEqual(["waiting w1", "message 2"]);
  expect(salvage?.record.tail).toEqual([sampleMessage(1), sampleMessage(3)]);
  await store.setAside("t1", salvage?.parts ?? []);
  expect(await store.history("t1", { limit: 9, before: null })).toEqual(salvage?.record.tail);
  await change(engine, snapshot);
  expect((await store.salvage("t1", BUDGET_CHARS))?.parts).toMatchObject([{ part: "snapshot" }]);
  const others = ["1", "3"].map((field) => ({ ...message, field }));
  const waits = { key: tables.waiting.key("t1"), field: "w2" };
  const run = { key: tables.header.key("t1"), field: HEADER.run };
  for (const one of [...others, waits, run]) await change(engine, one);
  await expect(store.salvage("t1", BUDGET_CHARS)).rejects.toThrow(LockedRecord);
});

it("says nothing of a thread that is not there", async () => {
  const { store } = await damaged({});
  expect(await store.salvage("t2", BUDGET_CHARS)).toBeNull();
});
