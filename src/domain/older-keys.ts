/** Keys of a web channel from before a rotation, which open what the new ones open for a while. */
export interface OlderKeys {
  publishableKey: string | null;
  secretKeyHash: string | null;
  untilMs: number;
}

/** Longest time that a rotation leaves to pages and backends: a year. */
export const MAX_OVERLAP_HOURS = 8_760;

export function keysStillValid({ olderKeys = [] }: { olderKeys?: OlderKeys[] }, nowMs: number): OlderKeys[] {
  return olderKeys.filter(({ untilMs }) => nowMs < untilMs);
}
