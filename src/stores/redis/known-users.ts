/**
 * The user that a token or an external id led to when this process last saw it. A function must declare every key
 * that it touches, so its caller names the user; if the token leads to another user by now, the function returns that
 * one, and is called again. A guess, never a fact.
 */
export interface KnownUsers {
  /** By the key of the token or of the external id. */
  get(key: string): string | undefined;
  set(key: string, userId: string): void;
  forget(key: string): void;
}

/** About 4 MB. A user who is not among the latest costs one more round trip. */
const MOST = 20_000;

export function createKnownUsers(most: number = MOST): KnownUsers {
  const known = new Map<string, string>();
  return {
    get: (key) => known.get(key),

    set(key, userId) {
      // A Map keeps insertion order: the first entry was not set for the longest time.
      known.delete(key);
      known.set(key, userId);
      if (known.size <= most) return;
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    },

    forget: (key) => void known.delete(key),
  };
}
