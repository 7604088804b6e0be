import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { KNOWN } from "./known.ts";
import { reportOf, summaryOf } from "./report.ts";
import { newSeed, runSeeds, seedsFrom } from "./run-seeds.ts";
import type { SeedRun } from "./run-seeds.ts";
import type { Outcome } from "./simulation.ts";

const USAGE = `npm run simulate -- [options]: the whole service in one process, from seeds (test/simulation/README.md)

Without options: new seeds for a minute. Exits 1 where an invariant is broken, and prints the seed and its trace.

  --seed N         from this seed on; without --minutes this one alone
  --minutes M      for so long (1)
  --kept           the seeds of seeds.json
  --verbose        a line for each seed, and whole traces
  --strict         passes nothing over that is known to be broken (known.ts)
  --go-on          goes on after a seed that broke an invariant
  --plant NAME     plants a mistake, and looks for it for at most five minutes; all: each of them
  --help           this`;

const { seed, minutes, ...values } = readArguments();
const { verbose } = values;

if (values.help) console.log(USAGE);
else if (values.plant === undefined) await simulateSeeds();
else await plantMistakes(values.plant);

function readArguments() {
  try {
    const { values: read } = parseArgs({
      options: {
        seed: { type: "string" },
        minutes: { type: "string" },
        kept: { type: "boolean", default: false },
        verbose: { type: "boolean", default: false },
        strict: { type: "boolean", default: false },
        "go-on": { type: "boolean", default: false },
        plant: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    return { ...read, seed: numberOf("--seed", read.seed), minutes: numberOf("--minutes", read.minutes) };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}

function numberOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined || /^\d+(\.\d+)?$/.test(text)) return text === undefined ? text : Number(text);
  throw new Error(`${option} takes a number, not ${text}`);
}

async function simulateSeeds(): Promise<void> {
  const isOne = seed !== undefined && minutes === undefined;
  const first = seed ?? newSeed();
  const lastsMs = (minutes ?? 1) * 60_000;
  const kept = values.kept ? keptSeeds() : null;
  if (!kept && !isOne) console.log(`Seeds from ${first} on`);
  const isEnough = ({ seeds, tookMs, broken }: SeedRun) =>
    (broken.length > 0 && !values["go-on"]) || (!kept && (isOne ? seeds > 0 : tookMs >= lastsMs));
  const run = await runSeeds(kept ?? seedsFrom(first), {
    known: values.strict ? [] : Object.keys(KNOWN),
    isEnough,
    onSeed(outcome) {
      if (verbose) console.log(lineOf(outcome));
      if (outcome.violation) console.log(reportOf(outcome, verbose));
    },
  });
  console.log(summaryOf(run));
  process.exitCode = run.broken.length > 0 ? 1 : 0;
}

function lineOf({ seed: nth, steps, lastedMs, violation }: Outcome): string {
  return `${nth}: ${steps} steps, ${Math.round(lastedMs / 1000)} s ${violation?.invariant ?? ""}`;
}

function keptSeeds(): number[] {
  const text = readFileSync(new URL("seeds.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { seed: number }[]).map(({ seed }) => seed);
}

async function plantMistakes(wanted: string): Promise<void> {
  const [{ PLANTS }, { tryPlant }] = await Promise.all([
    import("./plants/plants.ts"),
    import("./plants/try-plant.ts"),
  ]);
  const plants = PLANTS.filter(({ name }) => wanted === "all" || wanted === name);
  if (plants.length === 0) {
    console.log(`Cannot plant ${wanted}: it is none of ${PLANTS.map(({ name }) => name).join(", ")}`);
    process.exitCode = 2;
  }
  for (const plant of plants) {
    const found = await tryPlant(plant, {
      first: seed ?? newSeed(),
      minutes: minutes ?? 5,
    });
    if (verbose) console.log(found.report);
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
    const time = `${seconds(found.tookMs)} (${seconds(found.cpuMs)} of the processor), ${found.seeds} seeds`;
    console.log(`${plant.name}: ${found.invariant ?? "NOT FOUND"} after ${time}`);
    if (!found.invariant) process.exitCode = 1;
  }
}
