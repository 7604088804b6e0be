import { reportOf, summaryOf } from "../report.ts";
import { runSeeds, seedsFrom } from "../run-seeds.ts";

/** Built with a mistake in it (build.ts): runs seeds until one finds it. Arguments: first seed, minutes, what to pass over. */
const [first = "1", minutes = "5", known = ""] = process.argv.slice(2);

const run = await runSeeds(seedsFrom(Number(first)), {
  known: known.split(","),
  isEnough: ({ broken, tookMs }) => broken.length > 0 || tookMs > Number(minutes) * 60_000,
});

const [found] = run.broken;
if (found) console.log(reportOf(found));
console.log(summaryOf(run));
const { tookMs, cpuMs, seeds } = run;
const invariant = found?.violation?.invariant ?? null;
console.log(`FOUND ${JSON.stringify({ invariant, tookMs, cpuMs, seeds })}`);
process.exitCode = found ? 0 : 1;
