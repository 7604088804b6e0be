import { createSecretKey, randomBytes } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { ContentKeys } from "../../config/content-keys.ts";
import { keyIdOf, open, seal } from "./cipher.ts";

/** Wraps users' keys with the keys of CONTENT_KEYS. */
export interface Wrapping {
  /** The id of the key that wraps new keys; null: nothing is encrypted. */
  readonly first: string | null;
  has(id: string): boolean;
  /** Makes a new key. */
  make(keyId: string): { key: KeyObject; wrapped: string };
  /** With the first key. */
  wrap(keyId: string, key: KeyObject): string;
  /** Throws a CannotUnwrap. */
  unwrap(keyId: string, wrapped: string): KeyObject;
  /** A text by which the key is recognized later. */
  checkOf(id: string): string;
  isChecked(id: string, check: string): boolean;
}

export class CannotUnwrap extends Error {
  constructor(fact: string) {
    super(`Cannot read a user's key: ${fact}`);
    this.name = "CannotUnwrap";
  }
}

const CHECKED = "a key of CONTENT_KEYS";

export function createWrapping({ seals, keys }: ContentKeys): Wrapping {
  const known = new Map(keys.map(({ id, key }) => [id, createSecretKey(key.reveal(), "base64")]));
  const first = seals ? (keys[0]?.id ?? null) : null;

  function keyOf(id: string): KeyObject {
    const key = known.get(id);
    if (key === undefined) throw new CannotUnwrap(`it is wrapped by ${id}, which is not in CONTENT_KEYS`);
    return key;
  }

  function wrap(keyId: string, key: KeyObject): string {
    if (first === null) throw new Error("Cannot wrap a key: CONTENT_KEYS has none to wrap by");
    return seal(key.export().toString("base64"), { keyId: first, key: keyOf(first), place: `key ${keyId}` });
  }

  return {
    first,
    has: (id) => known.has(id),
    wrap,

    make(keyId) {
      const key = createSecretKey(randomBytes(32));
      return { key, wrapped: wrap(keyId, key) };
    },

    unwrap(keyId, wrapped) {
      const id = keyIdOf(wrapped);
      if (id === null) throw new CannotUnwrap("it is damaged");
      const key = keyOf(id);
      try {
        return createSecretKey(open(wrapped, { key, place: `key ${keyId}` }), "base64");
      } catch {
        throw new CannotUnwrap(`the ${id} of CONTENT_KEYS is not the key that wrapped it, or it is damaged`);
      }
    },

    checkOf: (id) => seal(CHECKED, { keyId: id, key: keyOf(id), place: `check ${id}` }),

    isChecked(id, check) {
      try {
        return open(check, { key: keyOf(id), place: `check ${id}` }) === CHECKED;
      } catch {
        return false;
      }
    },
  };
}
