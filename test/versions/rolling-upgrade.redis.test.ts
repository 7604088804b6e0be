import { expect, test } from "vitest";
import { startWorkload } from "../faults/workload.ts";
import { callPageTools } from "./call-page-tools.ts";
import { startMixedFleet } from "./mixed-fleet.ts";
import { FIRST_RELEASE, hasCommit, oldVersion } from "./old-version.ts";
import { HERE } from "./service-process.ts";

/**
 * P8: 0.1.0 and this version serve side by side on one Redis, under load on all of them: instance by instance upgraded,
 * rolled back, upgraded again. Nothing that was acknowledged is lost or doubled, and no client sees more than a restart of
 * one version would show. Slow because whole services start; `UPGRADE=full` has more of them, on a cluster too.
 */
const isFull = process.env["UPGRADE"] === "full";
const isThere = hasCommit(FIRST_RELEASE);
const where = isThere ? "" : ` (left out: this copy has no history with ${FIRST_RELEASE})`;

type Version = "old" | "new";

/** Which instance is replaced by which version, one after the other. */
const SHORT: [index: number, version: Version][] = [
  [0, "new"],
  [0, "old"],
  [1, "new"],
  [0, "new"],
];
const FULL: typeof SHORT = [
  ...[0, 1, 2].map((index): [number, Version] => [index, "new"]),
  ...[2, 0, 1].map((index): [number, Version] => [index, "old"]),
  ...[1, 2, 0].map((index): [number, Version] => [index, "new"]),
];

test.skipIf(!isThere).each(isFull ? (["redis", "cluster"] as const) : (["redis"] as const))(
  `0.1.0 is upgraded, rolled back and upgraded again under load, on %s${where}`,
  { timeout: 900_000 },
  async (on) => {
    const checkouts = { old: oldVersion(FIRST_RELEASE), new: HERE };
    const steps = isFull ? FULL : SHORT;
    const instances = isFull ? 3 : 2;
    const fleet = await startMixedFleet({
      on,
      checkouts: Array.from({ length: instances }, () => checkouts.old),
    });
    const workload = await startWorkload(fleet, { threads: isFull ? 12 : 6, writers: 2 });
    const pages = await callPageTools(fleet, isFull ? 6 : 3);
    for (const [index, version] of steps) {
      const before = workload.acknowledged;
      await fleet.replace(index, checkouts[version]);
      // Each mixture serves for a while: all that was said before it is answered, and as much again.
      await expect.poll(() => workload.acknowledged, { timeout: 120_000 }).toBeGreaterThan(before + 20);
    }
    await workload.stop();
    const called = await pages.stop();
    const faults = [...(await workload.faults()), ...(await pages.faults())];
    const { acknowledged, refused, cut } = workload;
    console.log(
      `rolling upgrade on ${on}: ${acknowledged} messages acknowledged, ${faults.length} lost or doubled, ${refused} refused, ${cut} streams cut, ${called} page calls answered`,
    );
    await fleet.close();
    expect(faults).toEqual([]);
    expect(cut).toBe(0);
    expect(called).toBeGreaterThan(0);
    expect(fleet.complaints()).toEqual([]);
  },
);
