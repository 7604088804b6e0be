/**
 * Keys by which contents are encrypted at rest: one for each user, wrapped by a key of CONTENT_KEYS and kept with the user's
 * record. In a merge they go to the account, in the very step that moves the threads; with the user they are deleted. The store
 * knows them as texts, and has no key to unwrap them.
 */
export interface ContentKeyStore {
  /** The user's wrapped keys by their ids; null: the user is gone. */
  keys(slug: string, userId: string): Promise<Record<string, string> | null>;
  /** Adds a key where the user has none of that id; answers the one that is kept. Null: the user is gone. */
  add(key: { slug: string; userId: string; keyId: string; wrapped: string }): Promise<string | null>;
  /** Puts another text in the place of `was`; null: removes it. False: it is not `was`, nothing was changed. */
  replace(change: {
    slug: string;
    userId: string;
    keyId: string;
    was: string;
    wrapped: string | null;
  }): Promise<boolean>;
  /** Keys of CONTENT_KEYS that something was wrapped by: a text by which each is known again. */
  wrappers(): Promise<Record<string, string>>;
  /** Where it is not noted yet. */
  noteWrapper(id: string, check: string): Promise<void>;
  forgetWrapper(id: string): Promise<void>;
}
