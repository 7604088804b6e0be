/**
 * The wait before the next attempt, randomized by ±25 %: after an outage of the service, its clients must not all come back
 * at once.
 */
export function spread(wait: number): number {
  return wait * (0.75 + Math.random() / 2);
}
