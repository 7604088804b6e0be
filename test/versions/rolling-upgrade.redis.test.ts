import { expect, test } from "vitest";
import { startWorkload } from "../faults/workload.ts";
import { callPageTools } from "./call-page-tools.ts";
import { startMixedFleet } from "./mixed-fleet.ts";
import { FIRST_RELEASE, hasCommit, oldVersion } from "./old-version.ts";
import { startOtherRequests } from "./other-requests.ts";
import { populationFaults, populate } from "./population.ts";
import { HERE } from "./service-process.ts";

/**
 * P8: 0.1.0 and this version serve side by side on one Redis, under load on all of them: instance by instance upgraded,
 * rolled back, upgraded again. Nothing that was acknowledged is lost or doubled, and no client sees more than a restart of
 * one version would show. Slow because whole services start; `UPGRADE=full` has more of them, on a cluster too.
 */
const isFull = process.env["UPGRADE"] === "full";
const isThere = hasCommit(FIRST_RELEASE);
const where = isThere ? "" : ` (left out: this copy has no history with ${FIRST_RELEASE})`;

/** In all states, put there by 0.1.0 before anything is replaced. */
const THREADS = Number(process.env["UPGRADE_THREADS"] ?? (isFull ? 10_000 : 40));
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

const RUNS: { name: string; on: "redis" | "cluster"; first: Version }[] = [
  {
    name: "0.1.0 is upgraded, rolled back and upgraded again under load, on redis",
    on: "redis",
    first: "old",
  },
  ...(isFull
    ? ([
        {
          name: "0.1.0 is upgraded, rolled back and upgraded again under load, on a cluster",
          on: "cluster",
          first: "old",
        },
        {
          name: "the control: instances of this version alone are restarted as often",
          on: "redis",
          first: "new",
        },
      ] as const)
    : []),
];

const named = RUNS.map((run) => [run.name, run] as const);

test.skipIf(!isThere).each(named)(`%s${where}`, { timeout: 3_600_000 }, async (name, { on, first }) => {
  const checkouts = { old: oldVersion(FIRST_RELEASE), new: HERE };
  const steps = isFull ? FULL : SHORT;
  const instances = isFull ? 3 : 2;
  const fleet = await startMixedFleet({
    on,
    checkouts: Array.from({ length: instances }, () => checkouts[first]),
  });
  const population = await populate(fleet.victims[0]?.url ?? "", fleet.model, THREADS);
  const workload = await startWorkload(fleet, { threads: isFull ? 12 : 6, writers: 2 });
  const pages = await callPageTools(fleet, isFull ? 6 : 3);
  const others = await startOtherRequests(fleet, isFull ? 3 : 1);
  let cutByStops = 0;
  for (const [nth, [index, version]] of steps.entries()) {
    const { acknowledged: before, cut } = workload;
    await fleet.replace(index, checkouts[first === "new" ? "new" : version]);
    cutByStops += workload.cut - cut;
    // They were taken over by then.
    if (nth === 0) population.release();
    // Each mixture serves for a while: all that was said before it is answered, and as much again.
    await expect.poll(() => workload.acknowledged, { timeout: 120_000 }).toBeGreaterThan(before + 20);
  }
  await workload.stop();
  const called = await pages.stop();
  const counts = await others.stop();
  const faults = [
    ...(await workload.faults()),
    ...(await pages.faults()),
    ...(await others.faults()),
    ...(await populationFaults(population.threads, {
      store: fleet.store,
      urls: fleet.victims.map(({ url }) => url),
    })),
  ];
  const { acknowledged, refused, unreached, cut } = workload;
  console.log(
    `${name}: ${JSON.stringify({ threads: THREADS, faults: faults.length, messages: { acknowledged, refused, unreached, cut }, pageCalls: called, others: counts })}`,
  );
  await fleet.close();
  expect(faults.slice(0, 20)).toEqual([]);
  // On a machine that is busy enough the last bytes of a stopped instance may be late, whatever its version.
  expect(cut - cutByStops).toBe(0);
  expect(called.answered).toBeGreaterThan(0);
  expect(fleet.complaints()).toEqual([]);
});
