/**
 * The service as a process that faults are done to: the parts of src/main.ts without demo and greeting, and around its
 * store whatever VICTIM asks for. Everything else comes from the service's own environment variables. Tells its URL in
 * one line on stdout.
 */
import { systemClock } from "../../../src/clock.ts";
import { readConfig } from "../../../src/config.ts";
import { watchForUncaughtErrors } from "../../../src/start/uncaught-errors.ts";
import { openLog } from "../../../src/log.ts";
import { openModel } from "../../../src/installation/open-model.ts";
import { openStore } from "../../../src/installation/open-store.ts";
import { startService } from "../../../src/service.ts";
import { watchForSignals } from "../../../src/start/signals.ts";
import { crashAt, REACHED } from "../crash/crash-store.ts";
import type { CrashPoint } from "../crash/crash-store.ts";
import { allowHandOff, TRANSPORT_KEY, writeChannels } from "../fault-channels.ts";
import { weaken } from "../flaky/weak-stores.ts";
import type { Weakness } from "../flaky/weak-stores.ts";

export interface VictimSettings {
  crash?: CrashPoint;
  weakness?: Weakness;
  /** The MCP server of both channels. */
  mcpUrl?: string;
  /** People may take over. */
  people?: boolean;
}

process.stdin.resume().once("close", () => process.exit(1));

const settings = JSON.parse(process.env["VICTIM"] ?? "{}") as VictimSettings;
const config = readConfig();
const signals = watchForSignals();
const log = await openLog({ level: config.logLevel, secrets: [TRANSPORT_KEY] });

let isListening = false;
let store = await openStore({ config, clock: systemClock, log });
await writeChannels(store, settings.mcpUrl);
if (settings.people) await allowHandOff(store);
if (settings.weakness) store = weaken(store, settings.weakness);
if (settings.crash) store = crashAt(store, settings.crash, { listens: () => isListening, reach, die });

const model = await openModel(config);
const service = await startService({
  config,
  harnessApiKey: TRANSPORT_KEY,
  store,
  model,
  clock: systemClock,
  log,
});
const faults = watchForUncaughtErrors(log);
isListening = true;
process.stdout.write(`${JSON.stringify({ victimUrl: service.url })}\n`);

await signals.first;
await service.stop(config.shutdownGraceMs);
await model.close();
await store.close();
process.exit(faults.count() === 0 ? 0 : 70);

function reach(): void {
  process.stdout.write(`${REACHED}\n`);
}

/** Never comes back: the signal may take a moment to arrive. */
function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
}
