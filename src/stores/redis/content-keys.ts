import type { ContentKeyStore } from "../../store/content-keys.ts";
import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { globalKeys, userKeys } from "./keys.ts";
import { optional, pairsOf, textOrNull } from "./records.ts";

/** Prefix of the fields of keys in a user's hash (functions/users.lua). */
const FIELD = "key ";

export function redisContentKeys(redis: RedisCommands): ContentKeyStore {
  const { wrappers } = globalKeys;
  return {
    async keys(slug, userId) {
      const reply = await redis.ask("read_content_keys", { user: userKeys(slug, userId).user }, {});
      return reply === null ? null : contentKeysFrom(reply);
    },

    async add({ slug, userId, keyId, wrapped }) {
      const { user } = userKeys(slug, userId);
      return textOrNull(await redis.call("add_content_key", { user }, { keyId, wrapped }));
    },

    async replace({ slug, userId, keyId, was, wrapped }) {
      const args = { keyId, was, wrapped: optional(wrapped) };
      return (await redis.call("replace_content_key", { user: userKeys(slug, userId).user }, args)) === 1;
    },

    async wrappers() {
      return Object.fromEntries(pairsOf(await redis.read(wrappers, "HGETALL", wrappers)));
    },

    async noteWrapper(id, check) {
      await redis.write(wrappers, "HSETNX", wrappers, id, check);
    },

    async forgetWrapper(id) {
      await redis.write(wrappers, "HDEL", wrappers, id);
    },
  };
}

/** The wrapped keys by their ids. */
export function contentKeysFrom(reply: Reply): Record<string, string> {
  return Object.fromEntries(pairsOf(reply).map(([field, wrapped]) => [field.slice(FIELD.length), wrapped]));
}

export function contentKeyFields(keys: Record<string, string>): string[] {
  return Object.entries(keys).flatMap(([keyId, wrapped]) => [`${FIELD}${keyId}`, wrapped]);
}
