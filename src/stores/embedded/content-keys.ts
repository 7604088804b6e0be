import type { ContentKeyStore } from "../../store/content-keys.ts";
import { readText } from "../records.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb } from "./db.ts";
import type { UserRecords } from "./user-records.ts";

export function embeddedContentKeys(db: EmbeddedDb, users: UserRecords): ContentKeyStore {
  return {
    keys: (slug, userId) =>
      db.read("read a user's keys", () => {
        const record = users.user(slug, userId);
        return record ? (record.contentKeys ?? {}) : null;
      }),

    async add({ slug, userId, keyId, wrapped }) {
      // Read first: hardly any user is new, and a change waits for the disk.
      const kept = await db.read(
        "read a user's key",
        () => users.user(slug, userId)?.contentKeys?.[keyId] ?? null,
      );
      if (kept !== null) return kept;
      return db.change("keep a user's key", () => {
        const record = users.user(slug, userId);
        if (record === undefined) return null;
        const known = record.contentKeys?.[keyId];
        if (known !== undefined) return known;
        users.putUser(slug, { ...record, contentKeys: { ...record.contentKeys, [keyId]: wrapped } });
        return wrapped;
      });
    },

    replace: ({ slug, userId, keyId, was, wrapped }) =>
      db.change("replace a user's key", () => {
        const record = users.user(slug, userId);
        if (record?.contentKeys?.[keyId] !== was) return false;
        const { [keyId]: _, ...others } = record.contentKeys;
        users.putUser(slug, {
          ...record,
          contentKeys: wrapped === null ? others : { ...others, [keyId]: wrapped },
        });
        return true;
      }),

    wrappers: () =>
      db.read("read which keys wrapped something", () =>
        Object.fromEntries(
          [...db.range(["wrapper"], readText)].map(({ key, value }) => [String(key[1]), value]),
        ),
      ),

    noteWrapper: (id, check) => db.change("note a key that wraps", () => users.noteWrapper(id, check)),

    forgetWrapper: (id) => db.change("forget a key that wraps", () => db.remove(["wrapper", keyPart(id)])),
  };
}
