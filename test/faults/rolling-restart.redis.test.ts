// For src/start/, src/service.ts, src/threads/recover/
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { startFleet } from "./history/fleet.ts";
import { mustHave } from "./history/instances.ts";
import { isFull, lengthOf } from "./lengths.ts";
import { killVictims } from "./victims/victims.ts";
import { startWorkload } from "./history/workload.ts";

/** P29: every instance is stopped in order and started again, one after the other, while many clients write. */
const ROUNDS = lengthOf("FAULTS_RESTARTS", { short: 1, full: 20 });

afterAll(() => killVictims());

test(
  "a rolling restart under load loses nothing, and leaves no stream without its terminal line",
  { timeout: 1_200_000 },
  async () => {
    const fleet = await startFleet({ instances: isFull ? 3 : 2, env: { SHUTDOWN_GRACE_SECONDS: "5" } });
    fleet.model.pace(50);
    const workload = await startWorkload(fleet, { threads: 12, writers: 2 });
    for (let round = 0; round < ROUNDS; round++) {
      for (const index of fleet.victims.keys()) {
        await pause(500);
        expect(await mustHave(fleet.victims[index]).terminate()).toBe(0);
        await fleet.restart(index);
      }
    }
    await pause(500);
    await workload.stop();
    const faults = await workload.faults();
    const { acknowledged, refused, cut } = workload;
    if (isFull) console.log(`${acknowledged} messages acknowledged, ${refused} refused, ${cut} streams cut`);
    expect(faults).toEqual([]);
    expect(cut).toBe(0);
    expect(acknowledged).toBeGreaterThan(0);
    await fleet.close();
  },
);
