// For src/threads/recover/
import { afterAll, expect, test } from "vitest";
import { threadUid } from "../../src/domain/threads/thread-uid.ts";
import { ask, transportHeaders } from "./history/client.ts";
import { startFleet } from "./history/fleet.ts";
import { mustHave } from "./history/instances.ts";
import type { Fleet } from "./history/fleet.ts";
import { isFull, lengthOf } from "./lengths.ts";
import { quantile } from "./quantiles.ts";
import { killVictims } from "./victims/victims.ts";

/** P9: how long it takes until the runs of a process that was killed have been taken by another one. */
const KILLS = lengthOf("FAULTS_KILLS", { short: 0, full: 40 });
const RUNS = 10;
/** The contract's; what is aimed at is 5 s for 99 of 100. */
const TAKEN_WITHIN_MS = 10_000;
const AIM_MS = 5_000;

afterAll(() => killVictims());

test.runIf(isFull)(
  "the runs of a killed process are taken within seconds",
  { timeout: 1_200_000 },
  async () => {
    const fleet = await startFleet();
    const times: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      times.push(...(await killOne(fleet, kill)));
      if (kill < KILLS - 1) await fleet.restart(kill % 2);
    }
    const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
    console.log(`${times.length} runs taken after ${KILLS} kills: p50 ${p50} ms, p99 ${p99} ms`);
    expect(p99).toBeLessThan(AIM_MS);
    expect(Math.max(...times)).toBeLessThan(TAKEN_WITHIN_MS);
    await fleet.close();
  },
);

/** Kills one instance in the middle of its runs; answers the ms after which each of them was taken. */
async function killOne(fleet: Fleet, kill: number): Promise<number[]> {
  const victim = mustHave(fleet.victims[kill % 2]);
  const runs = Array.from({ length: RUNS }, (_, run) => ({
    threadId: `t${kill}-${run}`,
    text: `${kill} ${run}`,
  }));
  for (const { threadId, text } of runs) {
    fleet.model.hold(text);
    void ask(victim.url, "/v1/messages", {
      headers: transportHeaders,
      body: { threadId, userId: "u1", text },
    });
  }
  await Promise.all(runs.map(({ text }) => fleet.model.held(text)));
  const fences = await Promise.all(runs.map(({ threadId }) => fenceOf(fleet, threadId)));
  await victim.kill9();
  const killedAt = performance.now();
  const times = await Promise.all(
    runs.map(async ({ threadId }, index) => {
      while ((await fenceOf(fleet, threadId)) === fences[index]) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return Math.round(performance.now() - killedAt);
    }),
  );
  for (const { text } of runs) fleet.model.release(text);
  return times;
}

async function fenceOf({ store }: Fleet, threadId: string): Promise<string | null> {
  return (await store.load(threadUid("cli", "u1", threadId), 1))?.fence ?? null;
}
