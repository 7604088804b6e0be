import { simulate } from "./simulation.ts";
import type { Outcome } from "./simulation.ts";

/** Runs seeds one after the other, for as long as is wanted. */
export interface SeedRun {
  seeds: number;
  steps: number;
  /** Of all virtual time. */
  simulatedMs: number;
  tookMs: number;
  /** Of the processor: what it would have taken on an idle machine. */
  cpuMs: number;
  faults: Record<string, number>;
  /** Seeds that broke an invariant. */
  broken: Outcome[];
}

export async function runSeeds(
  seeds: Iterable<number>,
  options: {
    known: readonly string[];
    isEnough: (run: SeedRun) => boolean;
    onSeed?: (outcome: Outcome, run: SeedRun) => void;
  },
): Promise<SeedRun> {
  const { known, isEnough, onSeed = () => {} } = options;
  const run: SeedRun = { seeds: 0, steps: 0, simulatedMs: 0, tookMs: 0, cpuMs: 0, faults: {}, broken: [] };
  const begunAt = performance.now();
  const usedBefore = process.cpuUsage();
  for (const seed of seeds) {
    if (isEnough(run)) break;
    const outcome = await simulate(seed, known);
    run.seeds++;
    run.steps += outcome.steps;
    run.simulatedMs += outcome.lastedMs;
    run.tookMs = performance.now() - begunAt;
    const { user, system } = process.cpuUsage(usedBefore);
    run.cpuMs = (user + system) / 1_000;
    for (const [fault, times] of Object.entries(outcome.faults)) {
      run.faults[fault] = (run.faults[fault] ?? 0) + times;
    }
    if (outcome.violation) run.broken.push(outcome);
    onSeed(outcome, run);
  }
  return run;
}

/** One after the other, from a first one on. */
export function* seedsFrom(first: number): Iterable<number> {
  for (let seed = first; ; seed++) yield seed;
}

/** To begin with where nobody has been yet. */
export function newSeed(): number {
  return Date.now() % 1_000_000_000;
}
