/**
 * `TESTS=short` plays a tenth of what is drawn at random, and less of what is long; `npm run test:fast` (`TESTS=fast`) does
 * so too, and leaves out the files that take long all the same (vitest.config.ts). `npm test` plays all of it.
 */
const isShort = ["short", "fast"].includes(process.env["TESTS"] ?? "");

/** How many random cases a test plays of the `runs` that it has. */
export function randomRuns(runs: number): number {
  return isShort ? Math.ceil(runs / 10) : runs;
}

/** The rows of a test that takes long for each: all of them, or `count`, from the first to the last. */
export function rowsAtLength<T>(rows: readonly T[], count: number): readonly T[] {
  if (!isShort || rows.length <= count) return rows;
  return Array.from({ length: count }, (_, nth) =>
    Math.round((nth * (rows.length - 1)) / (count - 1)),
  ).flatMap((at) => rows.slice(at, at + 1));
}

/** How much a test has of what takes long: all of it, or what shows the same in a moment. */
export function atLength(full: number, short: number): number {
  return isShort ? short : full;
}
