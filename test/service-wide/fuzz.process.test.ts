// For src/http/, src/listeners/
import { expect, test } from "vitest";
import { callerOf, play } from "../fuzz/play.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";
import { ROOMY_LIMITS } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";

const REQUESTS = 400;
/** What was found with one stands here for good. */
const SEED = 20_261_122;
/** A service at rest has some 120 MB. */
const MOST_MEMORY_MB = 700;

describeEachListener("fuzzing", (listener) => {
  test("P30: whatever is sent, no answer is a 5xx but 503 and 505, no error goes uncaught, and the process lives", async () => {
    const dataDir = temporaryFolder();
    const env = { ...ROOMY_LIMITS, DATA_DIR: dataDir, LISTENER: listener };
    const service = await startServiceProcess(env);
    const caller = await callerOf(service, dataDir);
    const goesOn = ({ sent }: { sent: number }) => sent < REQUESTS;
    const { faults, statuses, mostMemoryMb } = await play(service, { caller, seed: SEED, goesOn });
    expect(faults).toEqual([]);
    // They got as far as the routes and the runs, not only to the door.
    for (const status of [200, 401, 404, 405, 422])
      expect(statuses.get(status), `how often ${status}`).toBeGreaterThan(0);
    expect(service.output.stdout.filter((line) => line.includes('"level":50'))).toEqual([]);
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    expect(mostMemoryMb).toBeLessThan(MOST_MEMORY_MB);
  });
});
