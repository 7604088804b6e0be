import type { SeedRun } from "./run-seeds.ts";
import type { Outcome } from "./simulation.ts";

/** So much of a trace tells how it came to be. */
const LAST_LINES = 60;
const WIDEST = 240;

/** What a reader needs who has to find the cause: the seed, the invariant, and the last that happened to its thread. */
export function reportOf({ seed, violation, trace, plan }: Outcome, isWhole = false): string {
  if (!violation) return `Seed ${seed}: every invariant held`;
  const { invariant, text, atMs, step, thread } = violation;
  const concerning = trace.filter((line) => thread === null || isAbout(line, thread));
  const shown = isWhole ? trace : concerning.slice(-LAST_LINES);
  return [
    `Seed ${seed} breaks ${invariant}${thread === null ? "" : ` in ${thread}`}, step ${step}, at ${(atMs / 1000).toFixed(4)} s:`,
    `  ${narrowed(text)}`,
    `${plan.instances} instances, DURABILITY=${plan.durability}`,
    "",
    ...shown.map(narrowed),
    "",
    `Again: npm run simulate -- --seed ${seed}`,
  ].join("\n");
}

/** Of the thread itself, or of no thread. */
function isAbout(line: string, thread: string): boolean {
  const about = /^ *[\d.]+ {2}(t\d+)? /.exec(line)?.[1];
  return about === undefined || about === thread;
}

function narrowed(line: string): string {
  const short = line.replaceAll(/x{50,}/g, "x…x");
  return short.length > WIDEST ? `${short.slice(0, WIDEST)}…` : short;
}

export function summaryOf({ seeds, steps, simulatedMs, tookMs, faults, broken }: SeedRun): string {
  const perSecond = (seeds / Math.max(tookMs / 1000, 0.001)).toFixed(1);
  const injected = Object.entries(faults)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([fault, times]) => `  ${fault}: ${times}`);
  return [
    `${seeds} seeds, ${perSecond} a second; ${steps} steps; ${Math.round(simulatedMs / 60_000)} simulated minutes`,
    ...injected,
    `${broken.length} broke an invariant${broken.map(({ seed, violation }) => ` ${seed} (${violation?.invariant})`).join(",")}`,
  ].join("\n");
}
