/**
 * To whom a token or an external id led when this process last saw it. A function declares every key that it touches, so
 * whoever calls it says whose keys those are; where the token leads to another user by now, the function says to whom,
 * and is called again. A guess, never a fact.
 */
export interface KnownUsers {
  /** By the key of the token or of the external id. */
  get(key: string): string | undefined;
  set(key: string, userId: string): void;
  forget(key: string): void;
}

/** About 4 MB. Whoever is not among the latest costs one more round trip. */
const MOST = 20_000;

export function createKnownUsers(most: number = MOST): KnownUsers {
  const known = new Map<string, string>();
  return {
    get: (key) => known.get(key),

    set(key, userId) {
      // A Map keeps the order of arrival: the first one is the one that was not set for the longest.
      known.delete(key);
      known.set(key, userId);
      if (known.size <= most) return;
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    },

    forget: (key) => void known.delete(key),
  };
}
