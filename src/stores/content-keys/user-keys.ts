import type { KeyObject } from "node:crypto";
import type { Clock } from "../../clock.ts";
import { LockedRecord } from "../../store.ts";
import type { ContentKeyStore } from "../../store.ts";
import { boundedCache } from "./bounded-cache.ts";
import { CannotUnwrap } from "./wrapping.ts";
import type { Wrapping } from "./wrapping.ts";

/** A key, and its id: `SLUG~USER_ID` of the user that it was made for. */
export interface UserKey {
  keyId: string;
  key: KeyObject;
}

/** A thread whose key is needed. `userId`: the user who speaks, if known; a merge may have moved the thread since. */
export interface Thread {
  uid: string;
  /** Null: it has no record yet. */
  slug: string | null;
  userId: string | null;
}

/** Stands for a thread where something is the user's own: no thread has such an uid. */
export const uidOfUser = (userId: string) => `user ${userId}`;

/** The user of such an uid; null: it is a thread's. */
export const userOfUid = (uid: string) => (uid.startsWith("user ") ? uid.slice("user ".length) : null);

/** Where users' keys are stored, and whose a thread is. */
export interface KeyOwners {
  contentKeys: ContentKeyStore;
  /** Null: nobody has the thread. */
  ownerOf: (slug: string, uid: string) => Promise<string | null>;
}

/** The keys of users in this process, unwrapped, for a minute each. */
export interface UserKeys {
  /** The key that seals a thread's contents; null: no user has the thread. */
  keyFor(thread: Thread): UserKey | Promise<UserKey | null>;
  /** Undefined: it has to be fetched. */
  known(keyId: string): KeyObject | undefined;
  /** The key of a text in a thread; a text: why there is none. */
  read(keyId: string, uid: string): Promise<KeyObject | string>;
  forget(slug: string, userId: string): void;
  forgetThread(uid: string): void;
}

const KEPT_MS = 60_000;
const MOST = 10_000;

export function createUserKeys(
  { contentKeys, ownerOf }: KeyOwners,
  {
    wrapping,
    clock,
    onGone,
  }: {
    wrapping: Wrapping;
    clock: Pick<Clock, "elapsed">;
    /** Called with the id of each key that is no longer known. */
    onGone: (keyId: string) => void;
  },
): UserKeys {
  const byId = boundedCache<KeyObject>({ most: MOST, keptMs: KEPT_MS, clock, onGone });
  const byThread = boundedCache<UserKey>({ most: MOST, keptMs: KEPT_MS, clock });
  let noted: Promise<void> | null = null;

  /** Called before the first user's key is wrapped by it. */
  async function note(id: string): Promise<void> {
    noted ??= contentKeys.noteWrapper(id, wrapping.checkOf(id));
    try {
      await noted;
    } catch (error) {
      noted = null;
      throw error;
    }
  }

  /** Null: the user is gone. One step of the store, whether the user has a key or not. */
  async function keyOf(slug: string, userId: string): Promise<UserKey | null> {
    const keyId = `${slug}~${userId}`;
    const known = byId.get(keyId);
    if (known) return { keyId, key: known };
    if (wrapping.first === null) return null;
    await note(wrapping.first);
    const made = wrapping.make(keyId);
    const stored = await contentKeys.add({ slug, userId, keyId, wrapped: made.wrapped });
    if (stored === null) return null;
    if (stored !== made.wrapped) return { keyId, key: unwrapped(keyId, stored) };
    byId.set(keyId, made.key);
    return { keyId, key: made.key };
  }

  function unwrapped(keyId: string, wrapped: string): KeyObject {
    const key = wrapping.unwrap(keyId, wrapped);
    byId.set(keyId, key);
    return key;
  }

  async function fetchKeyFor({ uid, slug, userId }: Thread): Promise<UserKey | null> {
    if (slug === null) return null;
    try {
      const speakers = userId === null ? null : await keyOf(slug, userId);
      const owner = speakers ? null : await ownerOf(slug, uid);
      const key = speakers ?? (owner === null ? null : await keyOf(slug, owner));
      if (key) byThread.set(uid, key);
      return key;
    } catch (error) {
      // A user's key that cannot be unwrapped must not be replaced by a new one.
      if (!(error instanceof CannotUnwrap)) throw error;
      throw new LockedRecord("user's key", "rest", error.message);
    }
  }

  /** Of the user that the key was made for, or of the account that this user became. */
  async function wrappedOf(keyId: string, uid: string): Promise<string | undefined> {
    const [slug = "", userId = ""] = keyId.split("~");
    const own = (await contentKeys.keys(slug, userId))?.[keyId];
    if (own !== undefined) return own;
    const owner = await ownerOf(slug, uid);
    return owner === null ? undefined : (await contentKeys.keys(slug, owner))?.[keyId];
  }

  return {
    keyFor: (thread) => byThread.get(thread.uid) ?? fetchKeyFor(thread),
    known: (keyId) => byId.get(keyId),

    async read(keyId, uid) {
      const wrapped = await wrappedOf(keyId, uid);
      if (wrapped === undefined) return "it is encrypted, and the key of its user is gone";
      try {
        return unwrapped(keyId, wrapped);
      } catch (error) {
        if (!(error instanceof CannotUnwrap)) throw error;
        return error.message;
      }
    },

    forget: (slug, userId) => byId.delete(`${slug}~${userId}`),
    forgetThread: (uid) => byThread.delete(uid),
  };
}
