/** `npm run test:fast` plays a tenth of what is drawn at random, and less of what is long; `npm test` plays all of it. */
const isShort = process.env["TESTS"] === "short";

/** How many random cases a test plays of the `runs` that it has. */
export function randomRuns(runs: number): number {
  return isShort ? Math.ceil(runs / 10) : runs;
}

/** How much a test has of what takes long: all of it, or what shows the same in a moment. */
export function atLength(full: number, short: number): number {
  return isShort ? short : full;
}
