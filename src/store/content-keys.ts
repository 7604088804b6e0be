/**
 * Keys that encrypt contents at rest: one for each user, wrapped by a key of CONTENT_KEYS and stored with the user's record.
 * A merge moves them to the account, in the same step as the threads; deleting the user deletes them. The store treats them
 * as text, and has no key to unwrap them.
 */
export interface ContentKeyStore {
  /** The user's wrapped keys by their ids; null: the user is gone. */
  keys(slug: string, userId: string): Promise<Record<string, string> | null>;
  /** Adds a key unless the user has one with that id; resolves to the stored one. Null: the user is gone. */
  add(key: { slug: string; userId: string; keyId: string; wrapped: string }): Promise<string | null>;
  /** Replaces the text `was` by another; null: removes it. False: the stored text is not `was`; nothing was changed. */
  replace(change: {
    slug: string;
    userId: string;
    keyId: string;
    was: string;
    wrapped: string | null;
  }): Promise<boolean>;
  /** The keys of CONTENT_KEYS that are in use, by id: for each a check text by which it is recognized. */
  wrappers(): Promise<Record<string, string>>;
  /** Does nothing if it is noted already. */
  noteWrapper(id: string, check: string): Promise<void>;
  forgetWrapper(id: string): Promise<void>;
}
