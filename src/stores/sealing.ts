import type { KeyObject } from "node:crypto";
import type { Clock } from "../clock.ts";
import { LockedRecord, StoreUnavailable, UnreadableRecord } from "../store.ts";
import { keyIdOf, open, seal } from "./content-keys/cipher.ts";
import { openedTexts } from "./content-keys/opened-texts.ts";
import type { Field, Open, Seal } from "./content-keys/sealed-records.ts";
import { createUserKeys } from "./content-keys/user-keys.ts";
import type { KeyOwners, Thread, UserKey } from "./content-keys/user-keys.ts";
import type { Wrapping } from "./content-keys/wrapping.ts";

/**
 * Encryption of what threads contain, where records become texts and texts become records. Plain texts, and those that
 * were sealed before CONTENT_KEYS were switched off, are read in any case.
 */
export interface Codec {
  /** What is written is encrypted. */
  readonly seals: boolean;
  /**
   * What seals the thread's contents; null: nothing is encrypted, or the thread was deleted and stores nothing. A promise
   * only if a key must be fetched. Throws StoreUnavailable if no user has the thread.
   */
  sealOf(thread: Thread): Seal | null | Promise<Seal | null>;
  /**
   * Reads stored texts of a thread; a promise only if a key must be fetched. A text that cannot be opened is never returned
   * as anything else: throws LockedRecord if its key is missing, UnreadableRecord if its record can be set aside.
   */
  read<T>(uid: string, work: Work<T>): T | Promise<T>;
  forgetUser(slug: string, userId: string): void;
  forgetThread(uid: string): void;
}

type Work<T> = (open: Open, known: KnownMessages) => T;

/** Messages of the thread that were opened before, by number: as they are stored, and opened. */
export interface KnownMessages {
  get(number: number, stored: string): string | undefined;
  set(number: number, text: { stored: string; opened: string }): void;
}

interface CodecOptions {
  wrapping: Wrapping;
  clock: Pick<Clock, "elapsed">;
  owners: KeyOwners;
  isDeleted: (uid: string) => Promise<boolean>;
}

/** Sealed and opened texts together: some 5,000 threads of 20 short messages. */
const MOST_OPENED_CHARS = 32 * 1_048_576;

/** What an error calls the record of a field. */
const KINDS: Record<Field, string> = {
  message: "message",
  feedback: "feedback",
  waiting: "waiting message",
  run: "run",
  terminal: "run",
  snapshot: "snapshot",
  part: "reply",
  images: "images",
  claim: "message id",
  event: "event",
  body: "event",
  grant: "sign-in",
};

/** Fields of records that can be set aside: a thread continues without them. */
const PARTS: ReadonlySet<Field> = new Set(["message", "feedback", "waiting", "run", "snapshot"]);

/** By its id; a text: why there is none. */
type FetchedKeys = Map<string, KeyObject | string>;

class KeyNeeded extends Error {
  readonly keyId: string;

  constructor(keyId: string) {
    super(`Cannot open a text: the key ${keyId} is not here`);
    this.keyId = keyId;
  }
}

export function createCodec({ wrapping, clock, owners, isDeleted }: CodecOptions): Codec {
  const texts = openedTexts(MOST_OPENED_CHARS);
  const keys = createUserKeys(owners, { wrapping, clock, onGone: (keyId) => texts.forgetKey(keyId) });
  const seals = wrapping.first !== null;

  function sealing(uid: string, { keyId, key }: UserKey): Seal {
    const sealOne = (text: string, field: Field, id: string) =>
      seal(text, { keyId, key, place: placeOf(uid, field, id) });
    return Object.assign(sealOne, {
      remember(number: number, text: { stored: string; opened: string }) {
        // Otherwise the text would outlive its key.
        if (keys.known(keyId)) texts.set({ uid, number, keyIds: [keyId] }, text);
      },
    });
  }

  async function fetchedSeal(thread: Thread, fetched: Promise<UserKey | null>): Promise<Seal | null> {
    const key = await fetched;
    if (key) return sealing(thread.uid, key);
    if (await isDeleted(thread.uid)) return null;
    throw new StoreUnavailable(`encrypt what thread ${thread.uid} keeps`, { fact: "nobody has the thread" });
  }

  /** `used`: gets the id of each key that opens a text. */
  function opening(uid: string, fetched: FetchedKeys | null, used: Set<string>): Open {
    return (sealed, field, id, isPart = PARTS.has(field)) => {
      const kind = KINDS[field];
      const keyId = keyIdOf(sealed);
      if (keyId === null) throw new LockedRecord(kind, uid, "it is not encrypted as it should be");
      const key = fetched?.get(keyId) ?? keys.known(keyId);
      if (key === undefined) throw new KeyNeeded(keyId);
      if (typeof key === "string") throw new LockedRecord(kind, uid, key);
      const place = placeOf(uid, field, id);
      used.add(keyId);
      try {
        return open(sealed, { key, place });
      } catch {
        const Unopened = isPart ? UnreadableRecord : LockedRecord;
        throw new Unopened(kind, uid, "it is encrypted, and does not open: it is damaged");
      }
    };
  }

  function attempt<T>(uid: string, fetched: FetchedKeys | null, work: Work<T>): T {
    const used = new Set<string>();
    return work(opening(uid, fetched, used), {
      get: (number, stored) => texts.get(uid, number, stored),
      set: (number, text) => texts.set({ uid, number, keyIds: used }, text),
    });
  }

  /** `needed`: the first key that was missing. */
  async function readByFetched<T>(uid: string, work: Work<T>, needed: string): Promise<T> {
    const fetched: FetchedKeys = new Map();
    for (let keyId = needed; ;) {
      fetched.set(keyId, await keys.read(keyId, uid));
      try {
        return attempt(uid, fetched, work);
      } catch (error) {
        if (!(error instanceof KeyNeeded)) throw error;
        keyId = error.keyId;
      }
    }
  }

  return {
    seals,

    sealOf(thread) {
      if (!seals) return null;
      const key = keys.keyFor(thread);
      return key instanceof Promise ? fetchedSeal(thread, key) : sealing(thread.uid, key);
    },

    read(uid, work) {
      // What is opened is known no longer than its key: those that have expired take their texts along.
      for (const keyId of texts.keysOf(uid)) keys.known(keyId);
      try {
        return attempt(uid, null, work);
      } catch (error) {
        if (!(error instanceof KeyNeeded)) throw error;
        return readByFetched(uid, work, error.keyId);
      }
    },

    forgetUser: (slug, userId) => keys.forget(slug, userId),

    forgetThread(uid) {
      keys.forgetThread(uid);
      texts.forgetThread(uid);
    },
  };
}

/** The place that a sealed text is bound to: it opens in no other thread, record or field. */
const placeOf = (uid: string, field: Field, id: string): string => `${uid} ${field} ${id}`;
