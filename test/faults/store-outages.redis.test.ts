// For src/stores/deadline.ts, src/stores/redis.ts, src/threads/recover/
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ask, terminalOf, transportHeaders } from "./history/client.ts";
import type { Heard } from "./history/client.ts";
import { startFleet } from "./history/fleet.ts";
import type { Fleet } from "./history/fleet.ts";
import { historyFaults } from "./history/history-check.ts";
import type { Append } from "./history/history-check.ts";
import { isFull } from "./lengths.ts";
import type { Weather } from "./victims/tcp-proxy.ts";
import { threadUid } from "../../src/domain/threads/thread-uid.ts";
import { killVictims } from "./victims/victims.ts";

/** P24: what clients see while Redis is away, slow or torn off, and that it is over when Redis is back. */
let fleet: Fleet;
let appends: Append[];
let threadId = 0;

beforeAll(async () => {
  fleet = await startFleet({ instances: 1 });
});

beforeEach(() => {
  threadId += 1;
  appends = [];
});

afterEach(() => fleet.network.heal());

afterAll(async () => {
  await fleet.close();
  await killVictims();
});

const names = () => ({ threadId: `t${threadId}`, userId: "u1" });
const uid = () => threadUid("cli", "u1", `t${threadId}`);
const url = () => fleet.victims[0]?.url ?? "";

/** A message with a text of its own; `first` resolves with the first line. */
function say(): { text: string; first: Promise<void>; heard: Promise<Heard & { tookMs: number }> } {
  const text = `${threadId} ${appends.length + 1}`;
  const append: Append = { text, sentAtMs: performance.now(), ackedAtMs: null };
  appends.push(append);
  let begin = () => {};
  const first = new Promise<void>((resolve) => (begin = resolve));
  const heard = ask(url(), "/v1/messages", {
    headers: transportHeaders,
    body: { ...names(), text },
    onStatus: (status) => {
      if (status === 200) append.ackedAtMs = performance.now();
    },
    onLine: begin,
  }).then((said) => ({ ...said, tookMs: performance.now() - append.sentAtMs }));
  return { text, first, heard };
}

/** How long it takes until a message is answered. */
async function untilBack(): Promise<number> {
  const began = performance.now();
  for (;;) {
    const { status, lines } = await say().heard;
    if (status === 200 && lines.at(-1)?.type === "done") return performance.now() - began;
    await pause(20);
  }
}

/** What is wrong with the thread of this test, once it has settled. */
async function faults(): Promise<string[]> {
  await fleet.settled([uid()]);
  const history = await fleet.store.history(uid(), { limit: 1_000, before: null });
  return historyFaults(history, appends, []);
}

const OUTAGES: [string, Partial<Weather>, boolean][] = [
  ["refuses connections", { refuses: true }, true],
  ["hangs", { hangs: true }, false],
  ["answers too late", { latencyMs: 2_500 }, false],
];

/** The store's deadline, and the rest; asserted at full length alone, on a machine that does nothing else. */
const ANSWERED_MS = isFull ? 2_300 : Infinity;

describe.each(isFull ? OUTAGES : OUTAGES.slice(0, 1))("a Redis that %s", (_name, weather, cuts) => {
  async function takeAway(): Promise<void> {
    await fleet.network.bring(weather);
    if (cuts) fleet.network.cut();
  }

  async function comeBack(): Promise<void> {
    await fleet.network.heal();
    // What is late stays late.
    if (weather.latencyMs !== undefined) fleet.network.cut();
    const tookMs = await untilBack();
    if (isFull) console.log(`back ${Math.round(tookMs)} ms after Redis`);
    if (isFull) expect(tookMs).toBeLessThan(1_500);
  }

  test("a message is refused with 503 within the deadline, and the service is soon back", async () => {
    await say().heard;
    await takeAway();
    const { status, tookMs } = await say().heard;
    expect(status).toBe(503);
    expect(tookMs).toBeLessThan(ANSWERED_MS);
    await comeBack();
    expect(await faults()).toEqual([]);
  });

  test("F5: an open stream ends in one error line of code interrupted; its run is saved when Redis is back", async () => {
    const held = `${threadId} 1`;
    fleet.model.hold(held);
    const open = say();
    await open.first;
    await takeAway();
    fleet.model.release(held);
    const heard = await open.heard;
    expect(heard.status).toBe(200);
    expect(terminalOf(heard)).toMatchObject({ type: "error", code: "interrupted" });
    await comeBack();
    expect(await faults()).toEqual([]);
  });

  test("a cancel is answered with 503, and holds nobody up", async () => {
    const held = `${threadId} 1`;
    fleet.model.hold(held);
    const open = say();
    await open.first;
    await takeAway();
    const began = performance.now();
    const { status } = await ask(url(), "/v1/messages/cancel", { headers: transportHeaders, body: names() });
    expect(status).toBe(503);
    expect(performance.now() - began).toBeLessThan(2 * ANSWERED_MS);
    fleet.model.release(held);
    await open.heard;
    await comeBack();
    expect(await faults()).toEqual([]);
  });
});

/** Somewhere in the bytes of a message's calls: admit and load, claim, finish. */
const CUTS = isFull ? Array.from({ length: 200 }, (_, index) => 40 * index) : [0, 100, 900, 2_000, 3_500];

describe.each(["up", "down"] as const)("a connection that is cut on its way %s", (direction) => {
  test("leaves a message whole or nothing of it, wherever it is cut", { timeout: 600_000 }, async () => {
    for (const bytes of CUTS) {
      fleet.network.cut();
      await fleet.network.bring({ cutAfter: { direction, bytes } });
      await say().heard;
      await fleet.network.heal();
      await untilBack();
    }
    expect(await faults()).toEqual([]);
  });
});

test(
  "a network of 1-byte slices and little room is slow, and nothing else",
  { timeout: 120_000 },
  async () => {
    fleet.network.cut();
    await fleet.network.bring({ sliceBytes: 1 });
    await untilBack();
    await fleet.network.bring({ bytesPerSecond: 20_000 });
    await untilBack();
    expect(await faults()).toEqual([]);
  },
);
