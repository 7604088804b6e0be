import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { startFleet } from "./fleet.ts";
import { isFull } from "./lengths.ts";
import { nemeses } from "./nemeses.ts";
import type { Nemesis } from "./nemeses.ts";
import { randomFrom } from "./random.ts";
import { killVictims } from "./victims.ts";
import { startWorkload } from "./workload.ts";

/** P1, P5, P6, P31: many clients write through two instances on one Redis, while everything around them is torn down. */
const MINUTES = 10;
const LEAST_ACKNOWLEDGED = 50_000;
const THREADS = isFull ? 40 : 8;

afterAll(() => killVictims());

test.concurrent(
  "under all nemeses nothing is lost, doubled, reordered or made up",
  { timeout: 3_600_000 },
  async () => {
    const fleet = await startFleet();
    const workload = await startWorkload(fleet, { threads: THREADS, writers: 2 });
    const random = randomFrom(Date.now());
    const endsAt = performance.now() + MINUTES * 60_000;
    const all: Nemesis[] = Object.values(nemeses);
    let done = 0;
    if (isFull) {
      for (; performance.now() < endsAt; done++) {
        await pause(2_000 + 3_000 * random());
        await (all[Math.floor(random() * all.length)] ?? nemeses.cut)(fleet, random);
      }
    } else {
      for (const nemesis of [nemeses.kill, nemeses.cut, nemeses.killRedis]) {
        await pause(700);
        await nemesis(fleet, random);
      }
      await pause(700);
    }
    await workload.stop();
    const faults = await workload.faults();
    const { acknowledged, refused, cut } = workload;
    if (isFull)
      console.log(
        `${done} faults, ${acknowledged} messages acknowledged, ${refused} refused, ${cut} streams cut`,
      );
    expect(faults).toEqual([]);
    expect(acknowledged).toBeGreaterThan(isFull ? LEAST_ACKNOWLEDGED : 50);
    await fleet.close();
  },
);

describe("controls: the checker is alive, for it finds", () => {
  test.concurrent("what is lost where the service speaks before it saves", async () => {
    const fleet = await startFleet({ settings: { weakness: "says-before-saving" } });
    const workload = await startWorkload(fleet, { threads: 4, writers: 1 });
    await pause(1_000);
    await Promise.all(fleet.victims.map((victim) => victim.kill9()));
    await Promise.all(fleet.victims.map((_, index) => fleet.restart(index, {})));
    await workload.stop();
    expect(await workload.faults()).toContainEqual(expect.stringMatching(/^lost: /));
    await fleet.close();
  });

  test.concurrent("what is lost where Redis keeps nothing over a restart", async () => {
    const fleet = await startFleet({ redisArgs: ["--appendonly", "no"] });
    const workload = await startWorkload(fleet, { threads: 4, writers: 1 });
    await pause(700);
    const stopped = workload.stop();
    await nemeses.killRedis(fleet, Math.random);
    await stopped;
    expect(await workload.faults()).toContainEqual(expect.stringMatching(/^lost: /));
    await fleet.close();
  });

  test.concurrent("what is doubled where a stale owner is not fenced", async () => {
    const fleet = await startFleet({ settings: { weakness: "no-fence" } });
    const [stale, heir] = fleet.victims;
    if (!stale || !heir) throw new Error("Cannot go on: no instances");
    // Whenever it is stopped, it is in the middle of runs.
    fleet.model.pace(200);
    // The stale one's runs, and nobody else's: the heir takes them, ends them, and then the stale one goes on.
    const workload = await startWorkload(fleet, { threads: 8, writers: 1, urls: () => [stale.url] });
    await pause(500);
    stale.pause();
    await pause(6_000);
    stale.resume();
    await workload.stop();
    expect(await workload.faults()).toContainEqual(
      expect.stringMatching(/^(doubled|out of turn|a wrong reply)/),
    );
    await fleet.close();
  });
});
