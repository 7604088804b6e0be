import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { UNREAD_LIMIT_BYTES } from "../../src/listener.ts";
import { ask, createThread, createVisitor, transportHeaders, visitorHeaders } from "./client.ts";
import { mustHave, startFleet } from "./fleet.ts";
import type { Fleet } from "./fleet.ts";
import { isFull } from "./lengths.ts";
import { quantile } from "./quantiles.ts";
import { startSlowReader } from "./slow-reader.ts";
import { killVictims } from "./victims.ts";

/** P17: readers that take nothing are cut off, the run goes on, and nobody else notices. */
const READERS = isFull ? 200 : 5;
const REPLY_KILOBYTES = 8_000;
/** What a connection of this machine holds of its own: about 4 MB, measured. What is unread in the process comes on top. */
const KERNEL_BYTES = 6_000_000;
const MESSAGES = isFull ? 300 : 3;

afterAll(() => killVictims());

test(
  "readers that never read are cut off, and the run of theirs is kept whole",
  { timeout: 600_000 },
  async () => {
    const fleet = await startFleet({ instances: 1 });
    const { url, pid } = mustHave(fleet.victims[0]);
    await latencies(fleet, url);
    const calm = await latencies(fleet, url);
    const start = residentBytes(pid);
    const first = await leaveUnread(fleet, "first");
    expect(first.replyChars).toBeGreaterThan(REPLY_KILOBYTES * 1_000);
    if (isFull) {
      // What a wave leaves behind is free for the next one: it is no leak, though the system does not have it back.
      const second = await leaveUnread(fleet, "second");
      await pause(60_000);
      const [atFirst, atSecond, later] = [first.mostBytes, second.mostBytes, residentBytes(pid)].map(
        (bytes) => Math.round((bytes - start) / 1_000_000),
      );
      const [alone, beside] = [calm, first.latencies].map((times) => quantile(times, 0.99));
      console.log(
        `${READERS} readers of ${REPLY_KILOBYTES} kB each: RSS grows by ${atFirst} MB, with as many again by ${atSecond} MB, ` +
          `a minute later by ${later} MB; first line p99 ${alone} ms alone, ${beside} ms beside them`,
      );
      expect(atSecond).toBeLessThan(1.3 * Number(atFirst));
    }
    await fleet.close();
  },
);

interface Wave {
  /** Of the service's memory, at the worst moment. */
  mostBytes: number;
  /** Of a healthy client meanwhile, in ms. */
  latencies: number[];
  /** What was kept of the reply. */
  replyChars: number;
}

/** Readers that re-attach to a run before it speaks, and never read. */
async function leaveUnread(fleet: Fleet, name: string): Promise<Wave> {
  const { url, pid } = mustHave(fleet.victims[0]);
  const token = String((await createVisitor(url)).value["visitorToken"]);
  const threadId = String((await createThread(url, token)).value["threadId"]);
  const headers = visitorHeaders(token);
  const text = `${name} #kilobytes ${REPLY_KILOBYTES}`;
  fleet.model.hold(text);
  const healthy = ask(url, "/v1/widget/messages", { headers, body: { threadId, text } });
  await fleet.model.held(text);
  const path = `/v1/widget/threads/${threadId}/stream`;
  const readers = await Promise.all(
    Array.from({ length: READERS }, () => startSlowReader(url, { method: "GET", path, headers })),
  );
  let mostBytes = 0;
  const watch = setInterval(() => (mostBytes = Math.max(mostBytes, residentBytes(pid))), 20);
  fleet.model.release(text);
  const beside = await latencies(fleet, url);
  expect((await healthy).lines.at(-1)).toMatchObject({ type: "done" });
  clearInterval(watch);

  for (const reader of readers) {
    const { bytes, end } = await reader.readRest();
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(KERNEL_BYTES + UNREAD_LIMIT_BYTES);
    expect(end).not.toContain('"type":"done"');
  }
  const [, reply] = await fleet.store.history(threadId, { limit: 2, before: null });
  return { mostBytes, latencies: beside, replyChars: reply?.content.length ?? 0 };
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
