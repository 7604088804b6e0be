/** The UTC day of a moment, `YYYY-MM-DD`: what a daily budget is counted by. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
