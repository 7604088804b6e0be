/** Keys of a web channel from before a rotation, which stay valid for a while. */
export interface OlderKeys {
  publishableKey: string | null;
  secretKeyHash: string | null;
  untilMs: number;
}

/** The longest time that old keys may stay valid: a year. */
export const MAX_OVERLAP_HOURS = 8_760;

export function keysStillValid({ olderKeys = [] }: { olderKeys?: OlderKeys[] }, nowMs: number): OlderKeys[] {
  return olderKeys.filter(({ untilMs }) => nowMs < untilMs);
}
