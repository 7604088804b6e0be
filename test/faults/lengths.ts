/** `npm run faults` runs at full length; the suite plays a sample of everything. */
export const isFull = process.env["FAULTS"] === "full";

/** How much of something a test does; the variable of this name says it otherwise. */
export function lengthOf(name: `FAULTS_${string}`, { short, full }: { short: number; full: number }): number {
  return Number(process.env[name] ?? (isFull ? full : short));
}
