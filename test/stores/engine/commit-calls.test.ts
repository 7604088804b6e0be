// For src/stores/engine.ts, src/stores/steps/store.ts
import { expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import { slotOf } from "../../../src/stores/engine.ts";
import type { Engine } from "../../../src/stores/engine.ts";
import { storeOn } from "../../../src/stores/steps/store.ts";
import { BUDGET_CHARS, sampleCommit, sampleMessage, sampleRun, sampleWaiting } from "../samples.ts";
import { createMemoryEngine } from "./memory-engine.ts";

/** How often a process calls its database for a commit (src/stores/steps/threads/commit.ts). */
async function counted() {
  const engine = createMemoryEngine(systemClock);
  const calls: string[] = [];
  // The channel's orders are written beside the commits.
  const isOfThread = (slot: string) => slot.startsWith("t:");
  const counting: Engine = {
    ...engine,
    read(reads, how) {
      if (isOfThread(slotOf(reads[0]?.key ?? ""))) calls.push(`read ${how?.name ?? ""}`);
      return engine.read(reads, how);
    },
    apply(step, how) {
      if (isOfThread(step.slot)) calls.push(`apply ${step.name ?? ""}`);
      return engine.apply(step, how);
    },
  };
  const open = () => storeOn(counting, { clock: systemClock, log: { warn() {} } });
  return { store: await open(), another: open, callsSince: () => calls.splice(0) };
}

const claim = (store: Store, changes = {}) =>
  sampleCommit({ opId: "claim", fence: `${store.processId}:a`, messages: [sampleMessage(1)], ...changes });

const end = (store: Store, changes = {}) =>
  sampleCommit({
    opId: "end",
    fence: `${store.processId}:a`,
    claims: false,
    rev: 1,
    state: "idle",
    holds: false,
    messages: [sampleMessage(2)],
    ...changes,
  });

it("a message is a load and two commits, one call each", async () => {
  const { store, callsSince } = await counted();
  await store.load("t1", BUDGET_CHARS, "active");
  await store.commit(claim(store, { orWait: { message: sampleWaiting("r1"), max: 8 } }));
  await store.commit(end(store));
  expect(callsSince()).toEqual(["read load", "apply commit", "apply commit"]);
  // Another message, to a thread that this process has released.
  await store.commit(claim(store, { opId: "again", rev: 2, readOp: "end", run: sampleRun("r2") }));
  expect(callsSince()).toEqual(["apply commit"]);
});

it("a message that another process has put into the queue costs the holder a read and a second try", async () => {
  const { store, another, callsSince } = await counted();
  const other = await another();
  await store.load("t1", BUDGET_CHARS);
  await store.commit(claim(store));
  callsSince();
  expect(await other.wait("t1", sampleWaiting("w1"), 8)).toMatchObject({ type: "waiting" });
  expect(callsSince()).toEqual(["read wait", "apply wait"]);
  expect(await store.commit(end(store))).toMatchObject({ next: sampleWaiting("w1") });
  expect(callsSince()).toEqual(["apply commit", "read commit", "apply commit"]);
});

it("a message that this process puts into the queue itself costs the next commit nothing", async () => {
  const { store, callsSince } = await counted();
  await store.load("t1", BUDGET_CHARS);
  await store.commit(claim(store));
  await store.wait("t1", sampleWaiting("w1"), 8);
  expect(await store.commit(end(store))).toMatchObject({ next: sampleWaiting("w1") });
  expect(callsSince()).toEqual(["read load", "apply commit", "apply wait", "apply commit"]);
});
