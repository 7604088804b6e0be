import { systemClock } from "../../src/clock.ts";
import { Secret } from "../../src/secret.ts";
import type { ContentKeyStore, Store } from "../../src/store.ts";
import { contentStore } from "../../src/stores/content-keys/content-store.ts";
import { createUserKeys } from "../../src/stores/content-keys/user-keys.ts";
import { createWrapping } from "../../src/stores/content-keys/wrapping.ts";
import type { Wrapping } from "../../src/stores/content-keys/wrapping.ts";

/** Keys of CONTENT_KEYS: the same id and fill are the same key. */
export const contentKey = (id: string, fill: number) => ({
  id,
  key: new Secret(Buffer.alloc(32, fill).toString("base64")),
});

export const testWrapping = (
  keys: { id: string; key: Secret }[] = [contentKey("k1", 1)],
  seals = true,
): Wrapping => createWrapping({ seals, keys });

/** The store as CONTENT_KEYS opens it. */
export const encrypted = (store: Store, wrapping = testWrapping()): Store =>
  contentStore(store, { wrapping, clock: systemClock });

/**
 * A store that encrypts, whoever has a thread: the store's own contract tells of threads that nobody has. `contentKeys`: of all
 * users, the same for all tests unless given.
 */
export function encryptedForAnybody(store: Store, contentKeys = KEYS_OF_ALL): Store {
  const wrapping = testWrapping();
  const known = { contentKeys, channelThread: async () => ownerOfAll };
  const keys = createUserKeys(known, { wrapping, clock: systemClock });
  return contentStore(store, { wrapping, clock: systemClock, keys });
}

const ownerOfAll = {
  uid: "",
  threadId: "",
  userId: "owner",
  createdAtMs: 0,
  updatedAtMs: 0,
  state: "idle" as const,
};

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
export const encryptedInFull = (store: Store): Store => (isEncryptedInFull ? encrypted(store) : store);

/** The same for suites whose threads nobody has. */
export const encryptedForAnybodyInFull = (store: Store): Store =>
  isEncryptedInFull ? encryptedForAnybody(store) : store;
