/**
 * What a token or an external id led to when this process last saw it: a step must name every key that it touches. If it
 * leads elsewhere by now, the step's check fails, and it is read again. A guess, never a fact.
 */
export interface Known<Value> {
  /** By the key of the token or of the external id. */
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  forget(key: string): void;
}

/** About 4 MB. One that was dropped costs one more round trip. */
const MOST = 20_000;

export function createKnown<Value>(most: number = MOST): Known<Value> {
  const known = new Map<string, Value>();
  return {
    get: (key) => known.get(key),

    set(key, value) {
      // A Map keeps insertion order: the one that was set last comes last.
      known.delete(key);
      known.set(key, value);
      if (known.size <= most) return;
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    },

    forget: (key) => void known.delete(key),
  };
}
