import type { DeletionStore } from "../../store/deletions.ts";
import type { UserStore } from "../../store/users.ts";
import { redisAdmissions } from "./admissions.ts";
import type { RedisCommands } from "./commands.ts";
import { redisIdentity } from "./identity.ts";
import {
  activityKey,
  asideTokenKey,
  blockedUsersKey,
  countKey,
  globalKeys,
  ownersKey,
  tokenKey,
  userKeys,
  usersKey,
} from "./keys.ts";
import { createKnownUsers } from "./known-users.ts";
import { hasValidToken } from "./user-tokens.ts";
import { redisUsersPage } from "./users-page.ts";
import { redisThreadList } from "./thread-list.ts";
import {
  flag,
  listOf,
  numberOf,
  optional,
  pairsOf,
  renamedFrom,
  textOf,
  textOrNull,
  threadEntryFrom,
  USER_FIELDS,
  userFrom,
} from "./records.ts";

/** Users that are read at once: a channel may have millions. */
const USERS_AT_ONCE = 500;

/** A turn may be counted just after midnight, by a clock that is still before it. */
const COUNT_KEPT_MS = 2 * 86_400_000;

/** What was set aside of a token is kept for a month; the token itself expires. */
const ASIDE_MS = 30 * 86_400_000;

/** The channel plane: tokens, users, and which user a thread belongs to; in one slot for each channel. */
export function redisUsers(
  redis: RedisCommands,
  deletions: Pick<DeletionStore, "eraseThread">,
  onRotated: (tokenHash: string) => void,
): Omit<UserStore, "onTokenRotated"> {
  const known = createKnownUsers();
  return {
    ...redisAdmissions(redis, known, deletions),
    ...redisIdentity(redis, known),
    ...redisThreadList(redis),

    async mintVisitor({ slug, tokenHash, userId, snapshot, ttlMs, atMs, endsAtMs }) {
      const { user } = userKeys(slug, userId);
      const token = tokenKey(slug, tokenHash);
      const times = { ttlMs: String(ttlMs), atMs: String(atMs), endsAtMs: String(endsAtMs ?? "") };
      const args = { userId, snapshot, ...times };
      await redis.call("mint_visitor", { token, user, users: usersKey(slug) }, args);
      known.set(token, userId);
    },

    async rotateToken({ slug, tokenHash, userId, newTokenHash, ttlMs, endsAtMs }) {
      const token = tokenKey(slug, tokenHash);
      const fresh = tokenKey(slug, newTokenHash);
      const args = { userId, ttlMs: String(ttlMs), endsAtMs: String(endsAtMs ?? "") };
      const rotated = await redis.call(
        "rotate_token",
        { token, fresh, user: userKeys(slug, userId).user },
        args,
      );
      if (rotated !== 1) return false;
      known.forget(token);
      known.set(fresh, userId);
      onRotated(tokenHash);
      return true;
    },

    async renamedThreads(slug, tokenHash) {
      const token = tokenKey(slug, tokenHash);
      return renamedFrom(await redis.read(token, "HGETALL", token));
    },

    async revokeTokens(slug, userId) {
      if ((await redis.call("revoke_tokens", userKeys(slug, userId), {})) !== 1) return false;
      await redis.call("note_change", globalKeys, {});
      return true;
    },

    async mendToken({ slug, tokenHash, unreadable, snapshot }) {
      const keys = { token: tokenKey(slug, tokenHash), aside: asideTokenKey(slug, tokenHash) };
      await redis.call("mend_token", keys, { unreadable, snapshot, keptMs: String(ASIDE_MS) });
    },

    async addThread({ slug, userId, threadId: name, uid, atMs }) {
      const keys = { ...userKeys(slug, userId), owners: ownersKey(slug), activity: activityKey(slug) };
      return (await redis.call("add_thread", keys, { userId, name, uid, atMs: String(atMs) })) === 1;
    },

    async dropSilentVisitor(slug, userId) {
      const keys = { ...userKeys(slug, userId), users: usersKey(slug) };
      return (await redis.call("drop_silent_visitor", keys, { userId })) === 1;
    },

    hasValidToken: (slug, userId) => hasValidToken(redis, slug, userId),

    async spendTokens({ slug, userId, day, tokens }) {
      const args = { day, tokens: String(tokens) };
      const into = await redis.call("spend_tokens", userKeys(slug, userId), args);
      // An account is never merged.
      if (typeof into === "string") await redis.call("spend_tokens", userKeys(slug, into), args);
    },

    async spentTokens(slug, userId, day) {
      const [into, spent] = listOf(await redis.ask("spent_tokens", userKeys(slug, userId), { day }));
      const account = textOrNull(into);
      if (account === null) return numberOf(spent ?? 0);
      const { days } = userKeys(slug, account);
      return numberOf((await redis.read(days, "HGET", days, day)) ?? 0);
    },

    async countTokens({ names, day, tokens }) {
      const args = { tokens: String(tokens), keptMs: String(COUNT_KEPT_MS) };
      await Promise.all(
        names.map((name) => redis.call("count_tokens", { count: countKey(name, day) }, args)),
      );
    },

    async countedTokens(names, day) {
      const keys = names.map((name) => countKey(name, day));
      const counts = await Promise.all(keys.map((key) => redis.read(key, "GET", key)));
      return counts.map((count) => numberOf(count ?? 0));
    },

    async users(slug) {
      const ids = listOf(await redis.read(usersKey(slug), "ZRANGE", usersKey(slug), "0", "-1")).map(textOf);
      const users = [];
      for (let from = 0; from < ids.length; from += USERS_AT_ONCE) {
        const replies = await Promise.all(
          ids.slice(from, from + USERS_AT_ONCE).map((id) => {
            const { user } = userKeys(slug, id);
            return redis.read(user, "HMGET", user, ...USER_FIELDS);
          }),
        );
        // A user that was merged meanwhile is gone.
        users.push(...replies.filter((reply) => textOrNull(listOf(reply)[0]) !== null).map(userFrom));
      }
      return users;
    },

    usersPage: (slug, page) => redisUsersPage(redis, slug, page),

    async flagUser(slug, userId, { blocked, whitelisted }) {
      const set = (value: boolean | undefined) => (value === undefined ? "" : flag(value));
      const args = { userId, blocked: set(blocked), whitelisted: set(whitelisted) };
      const { user } = userKeys(slug, userId);
      const keys = { user, users: usersKey(slug), blockedUsers: blockedUsersKey(slug) };
      const reply = await redis.call("flag_user", keys, args);
      if (reply === null) return null;
      await redis.call("note_change", globalKeys, {});
      return userFrom(reply);
    },

    async renameUser(slug, userId, displayName) {
      const args = { displayName: optional(displayName) };
      const reply = await redis.call("rename_user", userKeys(slug, userId), args);
      return reply === null ? null : userFrom(reply);
    },

    async threads(slug, userId) {
      const { names } = userKeys(slug, userId);
      return pairsOf(await redis.read(names, "HGETALL", names))
        .map(([name, entry]) => threadEntryFrom(name, entry))
        .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.threadId < b.threadId ? -1 : 1));
    },
  };
}
