/**
 * A wait before the next attempt, a quarter more or less by chance: the clients of a service that was away must not come
 * back all at once.
 */
export function spread(wait: number): number {
  return wait * (0.75 + Math.random() / 2);
}
