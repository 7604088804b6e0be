const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export function durationText(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  return `${(ms / MINUTE).toFixed(1)} min`;
}
