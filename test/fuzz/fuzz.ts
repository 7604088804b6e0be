import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Listener } from "../../src/listener.ts";
import { whyNoNativeBuild } from "../../src/listeners/uws/native-build.ts";
import { ROOMY_LIMITS } from "../support/servers/service.ts";
import { openServiceProcess } from "../support/servers/service-process.ts";
import { callerOf, play } from "./play.ts";

const USAGE = `npm run fuzz -- [options]: requests by the grammar of the API against both listeners (npm run build first)

Exits 1 after a 5xx that is no 503 or 505, an error in the log, or a process that does not answer any more; says how much memory
it had, and for how long its event loop stood.

  --minutes M          for so long on each listener (10)
  --seed N             from this seed on, for what was found
  --listener KIND      uws or node alone
  --help               this`;

/** A service at rest has some 120 MB; what it is sent here is at most a few MB at once. */
const MOST_MEMORY_MB = 700;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string" },
    listener: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) console.log(USAGE);
else await fuzzEach();

async function fuzzEach(): Promise<void> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  const loadable: Listener["kind"][] = whyNoNativeBuild() === null ? ["uws", "node"] : ["node"];
  const kinds = loadable.filter((kind) => values.listener === undefined || values.listener === kind);
  for (const kind of kinds) if (!(await fuzz(kind, seed))) process.exitCode = 1;
}

async function fuzz(listener: Listener["kind"], seed: number): Promise<boolean> {
  const dataDir = mkdtempSync(join(tmpdir(), "chat-agent-fuzz-"));
  const env = { ...ROOMY_LIMITS, DATA_DIR: dataDir, LISTENER: listener, DEMO_PORT: "" };
  const service = await openServiceProcess(env);
  try {
    const caller = await callerOf(service, dataDir);
    const until = Date.now() + Number(values.minutes) * 60_000;
    const played = await play(service, { caller, seed, goesOn: () => Date.now() < until });
    const errors = service.output.stdout.filter((line) => line.includes('"level":50'));
    const { sent, statuses, faults, mostMemoryMb, mostDelayMs } = played;
    const counts = [...statuses]
      .sort(([a], [b]) => (a ?? -1) - (b ?? -1))
      .map(([status, count]) => `${status ?? "none"} ${count}`);
    console.log(`${listener}: ${sent} requests from seed ${seed}: ${counts.join(", ")}`);
    console.log(`  at most ${Math.round(mostMemoryMb)} MB, event loop at most ${Math.round(mostDelayMs)} ms`);
    for (const { status, sent: bytes } of faults) console.log(`  ${status} for ${JSON.stringify(bytes)}`);
    for (const line of errors) console.log(`  ${line}`);
    return faults.length === 0 && errors.length === 0 && mostMemoryMb < MOST_MEMORY_MB;
  } finally {
    await service.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
