import type { KeyObject } from "node:crypto";
import type { Clock } from "../../clock.ts";
import { LockedRecord, StoreUnavailable, UnreadableRecord } from "../../store.ts";
import type { Store } from "../../store.ts";
import { boundedCache } from "./bounded-cache.ts";
import { keyIdOf, open } from "./cipher.ts";
import { openedTexts } from "./opened-texts.ts";
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
  slug: string;
  userId: string | null;
}

export interface TextAt {
  uid: string;
  kind: string;
  place: string;
  /** The opened text is kept as long as its key. */
  isReadOften?: boolean;
  /** The text can be set aside: if it is damaged, its thread continues without it. */
  isPart?: boolean;
}

/** The keys of users in this process, unwrapped, for a minute each. */
export interface UserKeys {
  /**
   * The key that seals a thread's contents; null: nothing is encrypted. Throws StoreUnavailable if no user has the
   * thread.
   */
  keyFor(thread: Thread): Promise<UserKey | null>;
  /**
   * Opens a text of a thread. A text that cannot be opened is never returned as anything else: throws LockedRecord if
   * its key is missing, UnreadableRecord if it is a damaged part.
   */
  open(sealed: string, at: TextAt): Promise<string>;
  /** Keeps what `sealed` opens to, for texts that are read again and again. */
  remember(sealed: string, at: { uid: string; place: string; opened: string }): void;
  forget(slug: string, userId: string): void;
  forgetThread(uid: string): void;
}

const KEPT_MS = 60_000;
const MOST = 10_000;
/** Sealed and opened texts together: some 5,000 threads of 20 short messages. */
const MOST_OPENED_CHARS = 32 * 1_048_576;

export function createUserKeys(
  store: Pick<Store, "contentKeys" | "channelThread">,
  { wrapping, clock }: { wrapping: Wrapping; clock: Clock },
): UserKeys {
  const texts = openedTexts(MOST_OPENED_CHARS);
  const byId = boundedCache<KeyObject>({
    most: MOST,
    keptMs: KEPT_MS,
    clock,
    onGone: (keyId) => texts.forgetKey(keyId),
  });
  const byThread = boundedCache<UserKey>({ most: MOST, keptMs: KEPT_MS, clock });
  let noted: Promise<void> | null = null;

  /** Called before the first user's key is wrapped by it. */
  async function note(id: string): Promise<void> {
    noted ??= store.contentKeys?.noteWrapper(id, wrapping.checkOf(id)) ?? null;
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
    const stored = (await store.contentKeys?.add({ slug, userId, keyId, wrapped: made.wrapped })) ?? null;
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

  /** The key, from the user that it was made for or from the account that this user became. Null: it is gone. */
  async function find(keyId: string, uid: string): Promise<KeyObject | null> {
    const known = byId.get(keyId);
    if (known) return known;
    const [slug = "", userId = ""] = keyId.split("~");
    const own = (await store.contentKeys?.keys(slug, userId))?.[keyId];
    if (own !== undefined) return unwrapped(keyId, own);
    const owner = await store.channelThread(slug, uid);
    const moved = owner && (await store.contentKeys?.keys(slug, owner.userId))?.[keyId];
    return moved ? unwrapped(keyId, moved) : null;
  }

  return {
    async keyFor({ uid, slug, userId }) {
      if (wrapping.first === null) return null;
      const known = byThread.get(uid);
      if (known) return known;
      const speakers = userId === null ? null : await unwrapping(() => keyOf(slug, userId));
      const key = speakers ?? (await ownersKey(uid, slug));
      if (!key)
        throw new StoreUnavailable(`encrypt what thread ${uid} keeps`, { fact: "nobody has the thread" });
      byThread.set(uid, key);
      return key;
    },

    async open(sealed, { uid, kind, place, isReadOften = false, isPart = false }) {
      const keyId = keyIdOf(sealed);
      if (keyId === null) throw new LockedRecord(kind, uid, "it is not encrypted as it should be");
      try {
        const key = byId.get(keyId) ?? (await find(keyId, uid));
        if (!key) throw new LockedRecord(kind, uid, "it is encrypted, and the key of its user is gone");
        if (!isReadOften) return open(sealed, { key, place });
        const at = { keyId, uid, place };
        const known = texts.get(at, sealed);
        if (known !== undefined) return known;
        const opened = open(sealed, { key, place });
        texts.set(at, { sealed, opened });
        return opened;
      } catch (error) {
        if (error instanceof LockedRecord || error instanceof StoreUnavailable) throw error;
        if (error instanceof CannotUnwrap) throw new LockedRecord(kind, uid, error.message);
        const fact = "it is encrypted, and does not open: it is damaged";
        throw isPart ? new UnreadableRecord(kind, uid, fact) : new LockedRecord(kind, uid, fact);
      }
    },

    remember(sealed, { uid, place, opened }) {
      const keyId = keyIdOf(sealed);
      // Otherwise the text would outlive its key.
      if (keyId !== null && byId.get(keyId)) texts.set({ keyId, uid, place }, { sealed, opened });
    },

    forget: (slug, userId) => byId.delete(`${slug}~${userId}`),
    forgetThread(uid) {
      byThread.delete(uid);
      texts.forgetThread(uid);
    },
  };

  async function ownersKey(uid: string, slug: string): Promise<UserKey | null> {
    const owner = await store.channelThread(slug, uid);
    return owner && unwrapping(() => keyOf(slug, owner.userId));
  }
}

/** A user's key that cannot be unwrapped must not be replaced by a new one. */
async function unwrapping<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CannotUnwrap)) throw error;
    throw new LockedRecord("user's key", "rest", error.message);
  }
}
