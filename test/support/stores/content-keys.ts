import { Secret } from "../../../src/secret.ts";
import type { ContentKeyStore } from "../../../src/store.ts";
import { createWrapping } from "../../../src/stores/content-keys/wrapping.ts";
import type { Wrapping } from "../../../src/stores/content-keys/wrapping.ts";
import type { SealingOptions } from "../../../src/stores/steps/codec.ts";

/** Keys of CONTENT_KEYS: the same id and fill are the same key. */
export const contentKey = (id: string, fill: number) => ({
  id,
  key: new Secret(Buffer.alloc(32, fill).toString("base64")),
});

export const testWrapping = (
  keys: { id: string; key: Secret }[] = [contentKey("k1", 1)],
  seals = true,
): Wrapping => createWrapping({ seals, keys });

/** For the opening of a store: as CONTENT_KEYS opens it. */
export const encrypted: SealingOptions = { wrapping: testWrapping() };

/**
 * A store that encrypts, whoever has a thread: the store's own contract tells of threads that nobody has. `contentKeys`: of all
 * users, the same for all tests unless given.
 */
export function encryptedForAnybody(contentKeys = KEYS_OF_ALL): SealingOptions {
  return { ...encrypted, owners: { contentKeys, ownerOf: async () => "owner" } };
}

export function keysInMemory(): ContentKeyStore {
  const kept = new Map<string, string>();
  return {
    keys: async () => Object.fromEntries(kept),
    async add({ keyId, wrapped }) {
      if (!kept.has(keyId)) kept.set(keyId, wrapped);
      return kept.get(keyId) ?? null;
    },
    replace: async () => false,
    wrappers: async () => ({}),
    noteWrapper: async () => {},
    forgetWrapper: async () => {},
  };
}

const KEYS_OF_ALL = keysInMemory();

export const isEncryptedInFull = process.env["ENCRYPTED"] === "full";

/** ENCRYPTED=full plays every suite that asks for it with encrypted contents; else the store is as it is. */
export const encryptedInFull: SealingOptions = isEncryptedInFull ? encrypted : {};

/** The same for suites whose threads nobody has. */
export const encryptedForAnybodyInFull: SealingOptions = isEncryptedInFull ? encryptedForAnybody() : {};
