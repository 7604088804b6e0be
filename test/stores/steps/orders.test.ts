// For src/stores/steps/orders.ts, src/stores/steps/orders/, src/stores/check/orders.ts
import { expect, test, vi } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { ThreadState } from "../../../src/store.ts";
import { entryText, slotOf } from "../../../src/stores/engine.ts";
import type { Engine, Write } from "../../../src/stores/engine.ts";
import { codecOn } from "../../../src/stores/steps/codec.ts";
import { orderSteps } from "../../../src/stores/steps/orders.ts";
import { HEADER, tables } from "../../../src/stores/tables.ts";
import { FEW_THREADS } from "../../../src/stores/thread-order.ts";
import { createMemoryEngine } from "../engine/memory-engine.ts";
import { SLUG, sampleCommit, sampleMessage } from "../samples.ts";

/** Orders beside threads whose headers the test writes itself. */
function open() {
  const engine = createMemoryEngine(systemClock);
  const write = (...writes: Write[]) =>
    engine.apply({ slot: slotOf(writes[0]?.key ?? ""), checks: [], writes });
  return {
    engine,
    write,
    orders: ordersOn(engine),
    isIn: (uid: string, state: ThreadState) =>
      write({ write: "set", key: tables.header.key(uid), fields: [[HEADER.state, state]] }),
    listed: async (key: string) => {
      const [found] = await engine.read([{ read: "range", key }]);
      return found;
    },
  };
}

function ordersOn(engine: Engine) {
  return orderSteps({ engine, processId: "p", clock: systemClock, codec: codecOn(engine, systemClock, {}) });
}

function said(uid: string, state: ThreadState, atMs: number) {
  const messages = [sampleMessage(1, { createdAtMs: atMs })];
  const goesOn = { fence: "p:a", claims: false, holds: state === "running" };
  return sampleCommit({ opId: `${atMs}`, ...goesOn, uid, state, messages });
}

const activity = tables.activity.key(SLUG);
const busy = (state: ThreadState) => tables.busy.key(SLUG, state);

test("what could not be written of a commit is written later", async () => {
  const { engine, isIn, listed } = open();
  let isAway = true;
  const orders = ordersOn({
    ...engine,
    apply: (step, how) => (isAway ? Promise.reject(new Error("away")) : engine.apply(step, how)),
  });
  await isIn("ends", "idle");
  await isIn("rests", "awaiting");
  await isIn("goes on", "running");
  orders.committing(said("ends", "idle", 1));
  orders.committing(said("rests", "awaiting", 2));
  orders.committing(said("goes on", "running", 3));
  await orders.close();
  expect(await listed(activity)).toEqual([]);
  isAway = false;
  await orders.close();
  expect(await listed(activity)).toEqual([
    ["ends", 1],
    ["rests", 2],
    ["goes on", 3],
  ]);
  expect(await listed(busy("awaiting"))).toEqual([["rests", 2]]);
  expect(await listed(busy("running"))).toEqual([["goes on", 3]]);
});

test("a thread that another instance brought to rest is in no list by its state, whoever writes last", async () => {
  const { engine, orders, isIn, listed } = open();
  const other = ordersOn(engine);
  await isIn("t", "with_person");
  orders.committing(said("t", "with_person", 1));
  await isIn("t", "idle");
  other.committing(said("t", "idle", 2));
  await other.close();
  await orders.close();
  expect(await listed(busy("with_person"))).toEqual([]);
  expect(await listed(activity)).toEqual([["t", 2]]);
});

test("a commit that is read as one that did not happen yet is looked for once more", async () => {
  const { orders, isIn, listed } = open();
  orders.committing(said("t", "running", 1));
  await orders.close();
  expect(await listed(busy("running"))).toEqual([]);
  await isIn("t", "running");
  await orders.close();
  expect(await listed(busy("running"))).toEqual([["t", 1]]);

  orders.committing(said("never", "running", 2));
  await orders.close();
  await orders.close();
  await isIn("never", "running");
  await orders.close();
  expect(await listed(busy("running"))).toEqual([["t", 1]]);
});

test("a deleted thread does not come back with what was pending of it", async () => {
  const { orders, write, listed } = open();
  orders.committing(said("t", "running", 1));
  await write({ write: "set", key: tables.owners.key(SLUG), fields: [["t", "deleted 2"]] });
  await orders.close();
  expect(await listed(activity)).toEqual([]);
  expect(await listed(busy("running"))).toEqual([]);
});

test("a thread is in the order from its first commit on, and raised soon after it was released", async () => {
  vi.useFakeTimers();
  try {
    const { orders, write, listed } = open();
    orders.committing({ ...said("t", "running", 1), claims: true, readOp: null });
    orders.committing({ ...said("u", "running", 2), claims: true, readOp: null });
    await vi.advanceTimersByTimeAsync(0);
    const begun = [
      ["t", 1],
      ["u", 2],
    ];
    expect(await listed(activity)).toEqual(begun);
    orders.committing(said("t", "idle", 3));
    orders.committing(said("u", "idle", 4));
    await write({ write: "set", key: tables.owners.key(SLUG), fields: [["u", "deleted 2"]] });
    await write({ write: "take", key: activity, members: ["u"] });
    await vi.advanceTimersByTimeAsync(99);
    expect(await listed(activity)).toEqual([["t", 1]]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await listed(activity)).toEqual([["t", 3]]);
  } finally {
    vi.useRealTimers();
  }
});

test("what a process that died had to take out of the lists by state is taken out", async () => {
  const { orders, write, isIn, listed } = open();
  await write({ write: "set", key: tables.channels.key, fields: [[SLUG, ""]] });
  const members = ["ends", "goes on", "deleted"].map((uid) => [uid, 5] as const);
  await write({ write: "put", key: busy("running"), members });
  await isIn("ends", "idle");
  await isIn("goes on", "running");
  await orders.tidy();
  expect(await listed(busy("running"))).toEqual([["goes on", 5]]);
});

test("changes without a message are forgotten after a day", async () => {
  const { orders, listed } = open();
  const changes = (uid: string, atMs: number) =>
    orders.committing(sampleCommit({ opId: uid, fence: "p:a", uid, state: "awaiting", atMs }));
  const day = 86_400_000;
  changes("old", 1_000);
  for (let nth = 1; nth < 100; nth++) changes("recent", 2_000);
  changes("new", 1_001 + day);
  await orders.close();
  expect(await listed(tables.changed.key(SLUG))).toEqual([
    ["recent", 2_000],
    ["new", 1_001 + day],
  ]);
});

test("of many threads of a user, those that are missing in the order have the place of their creation", async () => {
  const { orders, write, listed } = open();
  const uids = Array.from({ length: FEW_THREADS + 5 }, (_, nth) => `t${String(nth).padStart(3, "0")}`);
  const fields = uids.map((uid, nth) => [`name of ${uid}`, `${uid} ${1_000 + nth}`] as const);
  await write({ write: "set", key: tables.names.key(SLUG, "u"), fields });
  await write({ write: "put", key: activity, members: [["t000", 9_000]] });
  const entry = entryText(0, JSON.stringify(sampleMessage(1, { createdAtMs: 9_000 })));
  await write({ write: "set", key: tables.messages.key("t000"), fields: [["1", entry]] });
  await write({ write: "set", key: tables.header.key("t000"), fields: [[HEADER.messages, "1"]] });
  const found: string[] = [];
  for (let after = null; ;) {
    const page = await orders.listThreads({ slug: SLUG, userId: "u", limit: 10, after });
    found.push(...page.items.map(({ uid }) => uid));
    if (page.next === null) break;
    after = page.next;
  }
  expect(found).toEqual(["t000", ...uids.slice(1).toReversed()]);
  await orders.close();
  expect(await listed(activity)).toHaveLength(uids.length);
});
