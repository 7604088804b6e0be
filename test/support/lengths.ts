/** `npm run test:fast` plays a tenth of what is drawn at random; `npm test` plays all of it. */
const isShort = process.env["TESTS"] === "short";

/** How many random cases a test plays of the `runs` that it has. */
export function randomRuns(runs: number): number {
  return isShort ? Math.ceil(runs / 10) : runs;
}
