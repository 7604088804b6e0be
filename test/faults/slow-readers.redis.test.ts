// For src/listeners/, src/threads/hold/long-replies.ts
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { UNREAD_LIMIT_BYTES } from "../../src/listener.ts";
import { ask, createThread, createVisitor, transportHeaders, visitorHeaders } from "./history/client.ts";
import { startFleet } from "./history/fleet.ts";
import { mustHave } from "./history/instances.ts";
import type { Fleet } from "./history/fleet.ts";
import { isFull } from "./lengths.ts";
import { quantile } from "./quantiles.ts";
import { startSlowReader } from "./victims/slow-reader.ts";
import type { SlowReader } from "./victims/slow-reader.ts";
import { killVictims } from "./victims/victims.ts";

/** P17: readers that take nothing are cut off, the run goes on, and nobody else notices. */
const READERS = isFull ? 200 : 5;
const REPLY_KILOBYTES = 8_000;
/** What a connection of this machine holds of its own: about 4 MB, measured. What is unread in the process comes on top. */
const KERNEL_BYTES = 6_000_000;
const MESSAGES = isFull ? 300 : 3;
const MOST_GROWTH_MB = 400;

afterAll(() => killVictims());

test.each([
  ["each of a run of its own", startRunsOfTheirOwn],
  ["all of one run", reAttachToOne],
])(
  "P17: readers that never read, %s, are cut off, and what they asked for is kept whole",
  async (of, start) => {
    const fleet = await startFleet({ instances: 1 });
    const { url, pid } = mustHave(fleet.victims[0]);
    await latencies(fleet, url);
    const calm = await latencies(fleet, url);
    const before = residentBytes(pid);
    let mostBytes = 0;
    const watch = setInterval(() => (mostBytes = Math.max(mostBytes, residentBytes(pid))), 20);

    const { readers, threadIds } = await start(fleet, url);
    const ending = fleet.settled(threadIds);
    const beside = await latencies(fleet, url);
    await ending;
    clearInterval(watch);

    for (const reader of readers) {
      const { bytes, end } = await reader.readRest();
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThan(KERNEL_BYTES + UNREAD_LIMIT_BYTES);
      expect(end).not.toContain('"type":"done"');
    }
    for (const threadId of threadIds) {
      const [, reply] = await fleet.store.history(threadId, { limit: 2, before: null });
      expect(reply?.content.length).toBeGreaterThan(REPLY_KILOBYTES * 1_000);
    }
    if (isFull) {
      await pause(60_000);
      const [grown, left] = [mostBytes, residentBytes(pid)].map((bytes) =>
        Math.round((bytes - before) / 1e6),
      );
      const [alone, next] = [calm, beside].map((times) => quantile(times, 0.99));
      console.log(
        `${READERS} readers of ${REPLY_KILOBYTES} kB, ${of}: RSS grows by ${grown} MB, ` +
          `a minute later by ${left} MB; first line p99 ${alone} ms alone, ${next} ms beside them`,
      );
      // Each reply whole, the unread lines of each reader, and copies on the way: more than that is a leak.
      expect(grown).toBeLessThan(MOST_GROWTH_MB);
      expect(left).toBeLessThan(0.5 * MOST_GROWTH_MB);
    }
    await fleet.close();
  },
  600_000,
);

interface Readers {
  readers: SlowReader[];
  threadIds: string[];
}

/** As many runs at once as there are readers. */
async function startRunsOfTheirOwn({ model }: Fleet, url: string): Promise<Readers> {
  const token = String((await createVisitor(url)).value["visitorToken"]);
  const threadIds: string[] = [];
  for (let nth = 0; nth < READERS; nth++) {
    threadIds.push(String((await createThread(url, token)).value["threadId"]));
  }
  const turns = model.turns + READERS;
  const readers = await Promise.all(
    threadIds.map((threadId) => {
      const body = { threadId, text: `#kilobytes ${REPLY_KILOBYTES}` };
      const headers = visitorHeaders(token);
      return startSlowReader(url, { method: "POST", path: "/v1/widget/messages", headers, body });
    }),
  );
  await expect.poll(() => model.turns, { timeout: 60_000 }).toBeGreaterThanOrEqual(turns);
  return { readers, threadIds };
}

/** Readers that re-attach to a run before it speaks. */
async function reAttachToOne(fleet: Fleet, url: string): Promise<Readers> {
  const token = String((await createVisitor(url)).value["visitorToken"]);
  const threadId = String((await createThread(url, token)).value["threadId"]);
  const headers = visitorHeaders(token);
  const text = `#kilobytes ${REPLY_KILOBYTES}`;
  fleet.model.hold(text);
  void ask(url, "/v1/widget/messages", { headers, body: { threadId, text } });
  await fleet.model.held(text);
  const path = `/v1/widget/threads/${threadId}/stream`;
  const readers = await Promise.all(
    Array.from({ length: READERS }, () => startSlowReader(url, { method: "GET", path, headers })),
  );
  fleet.model.release(text);
  return { readers, threadIds: [threadId] };
}

/** Ms from a healthy client's message to its first line, one after another. */
async function latencies(fleet: Fleet, url: string): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < MESSAGES; index++) {
    const began = performance.now();
    let firstAt = 0;
    await ask(url, "/v1/messages", {
      headers: transportHeaders,
      body: { threadId: `healthy-${index}`, userId: "u1", text: `hello ${fleet.model.turns}` },
      onLine: () => (firstAt ||= performance.now()),
    });
    times.push(Math.round((firstAt - began) * 10) / 10);
  }
  return times;
}

/** Resident memory of a process, as Linux tells it. */
function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
}
