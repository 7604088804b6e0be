import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { threadUid } from "../../src/domain/thread-uid.ts";
import { UNREAD_LIMIT_BYTES } from "../../src/listener.ts";
import { ask, transportHeaders } from "./client.ts";
import { mustHave, startFleet } from "./fleet.ts";
import type { Fleet } from "./fleet.ts";
import { isFull } from "./lengths.ts";
import { quantile } from "./quantiles.ts";
import { startSlowReader } from "./slow-reader.ts";
import { killVictims } from "./victims.ts";

/** P17: readers that take nothing are cut off, their runs go on, and nobody else notices. */
const READERS = isFull ? 200 : 4;
const REPLY_KILOBYTES = 8_000;
/** What a connection of this machine holds of its own: about 4 MB, measured; what is unread in the process comes on top. */
const KERNEL_BYTES = 6_000_000;

afterAll(() => killVictims());

test(
  "readers that never read are cut off, and every run of theirs is kept whole",
  { timeout: 1_200_000 },
  async () => {
    const fleet = await startFleet({ instances: 1, env: { RUN_TIMEOUT_SECONDS: "600" } });
    const { url, pid } = mustHave(fleet.victims[0]);
    await latencies(fleet, url, 1);
    const calm = await latencies(fleet, url, isFull ? 500 : 5);
    const before = residentBytes(pid);
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, residentBytes(pid))), 20);

    const threads = Array.from({ length: READERS }, (_, index) => `slow-${index}`);
    const readers = await Promise.all(
      threads.map((threadId) =>
        startSlowReader(url, { threadId, userId: "u1", text: `${threadId} #kilobytes ${REPLY_KILOBYTES}` }),
      ),
    );
    const busy = await latencies(fleet, url, isFull ? 500 : 5);
    const uids = threads.map((threadId) => threadUid("cli", "u1", threadId));
    for (const uid of uids) while ((await fleet.store.load(uid, 1)) === null) await pause(20);
    await fleet.settled(uids);
    clearInterval(watch);

    for (const reader of readers) {
      const { bytes, end } = await reader.readRest();
      expect(bytes).toBeLessThan(KERNEL_BYTES + UNREAD_LIMIT_BYTES);
      expect(end).not.toContain('"type":"done"');
    }
    for (const uid of uids) {
      const [, reply] = await fleet.store.history(uid, { limit: 2, before: null });
      expect(reply?.outcome).toBe("done");
      expect(reply?.content.length).toBeGreaterThanOrEqual(REPLY_KILOBYTES * 1_000);
    }
    if (isFull) {
      await pause(60_000);
      const after = residentBytes(pid);
      const megabytes = (bytes: number) => Math.round(bytes / 1_000_000);
      console.log(
        `${READERS} readers of ${REPLY_KILOBYTES} kB each: RSS ${megabytes(before)} MB, at most ${megabytes(most)} MB, ` +
          `after a minute ${megabytes(after)} MB; line latency p99 ${quantile(calm, 0.99)} ms alone, ${quantile(busy, 0.99)} ms beside them`,
      );
    }
    await fleet.close();
  },
);

/** Ms from a healthy client's message to its first line, one after another. */
async function latencies(fleet: Fleet, url: string, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    let firstAt = 0;
    await ask(url, "/v1/messages", {
      headers: transportHeaders,
      body: { threadId: `healthy-${index}`, userId: "u2", text: `hello ${fleet.model.turns}` },
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
