// For src/stores/format.ts, src/domain/versions.ts
import { beforeAll, expect, test } from "vitest";
import { startWorkload } from "../../faults/history/workload.ts";
import { callPageTools } from "./call-page-tools.ts";
import { startMixedFleet } from "./mixed-fleet.ts";
import type { Builds, Version } from "./mixed-fleet.ts";
import { buildVersion } from "../next/build-version.ts";
import { NEXT_VERSION } from "../next/changes.ts";
import { startMarkedTalks } from "../next/marked-talks.ts";
import { startOtherRequests } from "./other-requests.ts";
import { populationFaults, populate } from "./population.ts";

/**
 * P8: this version and the next one, which is invented (next/changes.ts), serve side by side on one Redis, under load on all
 * of them: instance by instance upgraded, rolled back, upgraded again. Nothing that was acknowledged is lost or doubled, no
 * client sees more than a restart of one version would show, and this version leaves alone what only the next one reads.
 * Slow because whole services start; `UPGRADE=full` has more of them.
 */
const isFull = process.env["UPGRADE"] === "full";
const INSTANCES = isFull ? [0, 1, 2] : [0, 1];
/** In all states, put there by this version before anything is replaced. */
const THREADS = Number(process.env["UPGRADE_THREADS"] ?? (isFull ? 10_000 : 40));

/** Which instance is replaced by which version, one after the other. */
const STEPS = (["next", "present", "next"] as const).flatMap((version) =>
  INSTANCES.map((index): [number, Version] => [index, version]),
);

let builds: Builds;
beforeAll(() => {
  builds = { present: buildVersion(), next: buildVersion(NEXT_VERSION) };
});

test.each(["redis", "cluster"] as const)(
  "this version is upgraded, rolled back and upgraded again under load, on a %s",
  { timeout: 3_600_000 },
  async (on) => {
    const fleet = await startMixedFleet({ on, builds, versions: INSTANCES.map(() => "present") });
    const population = await populate(fleet.victims[0]?.url ?? "", fleet.model, THREADS);
    const workload = await startWorkload(fleet, { threads: isFull ? 12 : 6, writers: 2 });
    const pages = await callPageTools(fleet, isFull ? 6 : 3);
    const others = await startOtherRequests(fleet, isFull ? 3 : 1);
    const marked = await startMarkedTalks(fleet, isFull ? 6 : 3);
    let cutByStops = 0;
    for (const [nth, [index, version]] of STEPS.entries()) {
      const { acknowledged: before, cut } = workload;
      await fleet.replace(index, version);
      cutByStops += workload.cut - cut;
      // They were taken over by then.
      if (nth === 0) population.release();
      // Each mixture serves for a while: all that was said before it is answered, and as much again.
      await expect.poll(() => workload.acknowledged, { timeout: 120_000 }).toBeGreaterThan(before + 20);
    }
    await workload.stop();
    const called = await pages.stop();
    const counts = await others.stop();
    const talked = await marked.stop();
    const faults = [
      ...(await workload.faults()),
      ...(await pages.faults()),
      ...(await others.faults()),
      ...(await marked.faults()),
      ...(await populationFaults(population.threads, {
        store: fleet.store,
        urls: fleet.victims.map(({ url }) => url),
      })),
    ];
    const { acknowledged, refused, unreached, cut } = workload;
    const messages = { acknowledged, refused, unreached, cut };
    console.log(
      `${on}: ${JSON.stringify({ threads: THREADS, faults: faults.length, messages, pageCalls: called, others: counts, marked: talked })}`,
    );
    await fleet.close();
    expect(faults.slice(0, 20)).toEqual([]);
    // On a machine that is busy enough the last bytes of a stopped instance may be late, whatever its version.
    expect(cut - cutByStops).toBe(0);
    expect(called.answered).toBeGreaterThan(0);
    expect(talked.leftAlone).toBeGreaterThan(0);
    expect(talked.noted).toBeGreaterThan(0);
    expect(fleet.complaints()).toEqual([]);
  },
);
