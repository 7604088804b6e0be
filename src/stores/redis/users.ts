import type { UserStore } from "../../store/users.ts";
import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { channelKey, channelTag, externalIdKey, tokenKey, userKeys, usersKey } from "./keys.ts";
import {
  channelStateFrom,
  flag,
  listOf,
  optional,
  pairsOf,
  textOf,
  textOrNull,
  threadEntryFrom,
  threadUidFrom,
  userArguments,
  userFrom,
} from "./records.ts";

/** Users that are read in one go: a channel may have millions. */
const USERS_AT_ONCE = 500;

/** The channel plane: tokens, users, and whose a thread is; one slot for each channel. */
export function redisUsers(redis: RedisCommands): UserStore {
  return {
    async mintVisitor({ slug, tokenHash, userId, snapshot, ttlMs, atMs }) {
      const keys = [tokenKey(slug, tokenHash), userKeys(slug, userId).user, usersKey(slug)];
      await redis.call("mint_visitor", keys, [userId, snapshot, String(ttlMs), String(atMs)]);
    },

    async admitVisitor({ slug, tokenHash, ttlMs, threadId: threadName }) {
      const keys = [tokenKey(slug, tokenHash), channelKey(slug)];
      const args = [channelTag(slug), String(ttlMs), optional(threadName)];
      const reply = await redis.call("admit_visitor", keys, args);
      if (reply === null) return null;
      return { ...admissionFrom(reply), snapshot: textOf(listOf(reply)[3]) };
    },

    async admitUser({ slug, externalId, displayName, newUserId, thread, creates, atMs }) {
      const keys = [externalIdKey(slug, externalId), channelKey(slug), usersKey(slug)];
      const reply = await redis.call("admit_user", keys, [
        channelTag(slug),
        externalId,
        optional(displayName),
        newUserId,
        optional(thread?.name ?? null),
        optional(thread?.newUid ?? null),
        flag(creates),
        String(atMs),
      ]);
      return reply === null ? null : admissionFrom(reply);
    },

    async addThread({ slug, userId, threadId: name, uid, atMs }) {
      const { user, names } = userKeys(slug, userId);
      return (await redis.call("add_thread", [user, names], [name, `${uid} ${atMs}`])) === 1;
    },

    async spendTokens({ slug, userId, day, tokens }) {
      const { user, days } = userKeys(slug, userId);
      await redis.call("spend_tokens", [user, days], [day, String(tokens)]);
    },

    async spentTokens(slug, userId, day) {
      const { days } = userKeys(slug, userId);
      return Number((await redis.read(days, "HGET", days, day)) ?? 0);
    },

    async readIdentity(slug, tokenHash, externalId) {
      const keys = [tokenKey(slug, tokenHash), externalIdKey(slug, externalId)];
      const [user, snapshot, account] = listOf(await redis.ask("read_identity", keys, [channelTag(slug)]));
      return {
        visitor: user ? { user: userFrom(user), snapshot: textOf(snapshot) } : null,
        account: account ? userFrom(account) : null,
      };
    },

    async promote({ slug, tokenHash, externalId, user, snapshot }) {
      const keys = [
        tokenKey(slug, tokenHash),
        externalIdKey(slug, externalId),
        userKeys(slug, user.userId).user,
      ];
      const args = [user.userId, externalId, snapshot, ...userArguments(user)];
      return doneOrChanged(await redis.call("promote", keys, args));
    },

    async merge({ slug, tokenHash, from, into, result, snapshot }) {
      const left = userKeys(slug, from.userId);
      const right = userKeys(slug, into.userId);
      const keys = [tokenKey(slug, tokenHash), usersKey(slug)];
      for (const side of [left, right]) keys.push(side.user, side.names, side.days);
      const args = [from.userId, into.userId, snapshot];
      for (const user of [from, into, result]) args.push(...userArguments(user));
      return doneOrChanged(await redis.call("merge", keys, args));
    },

    async findUser(slug, id) {
      const keys = [userKeys(slug, id).user, externalIdKey(slug, id)];
      const reply = await redis.ask("find_user", keys, [channelTag(slug)]);
      return reply === null ? null : userFrom(reply);
    },

    async users(slug) {
      const ids = listOf(await redis.read(usersKey(slug), "ZRANGE", usersKey(slug), "0", "-1")).map(textOf);
      const users = [];
      for (let from = 0; from < ids.length; from += USERS_AT_ONCE) {
        const replies = await Promise.all(
          ids.slice(from, from + USERS_AT_ONCE).map((id) => {
            const { user } = userKeys(slug, id);
            return redis.read(user, "HMGET", user, "id", "external", "name", "blocked", "whitelisted");
          }),
        );
        // A user that was merged meanwhile is gone.
        users.push(...replies.filter((reply) => textOrNull(listOf(reply)[0]) !== null).map(userFrom));
      }
      return users;
    },

    async flagUser(slug, userId, { blocked, whitelisted }) {
      const args = [blocked, whitelisted].map((value) => (value === undefined ? "" : flag(value)));
      const reply = await redis.call("flag_user", [userKeys(slug, userId).user], args);
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

function admissionFrom(reply: Reply) {
  const [user, channel, thread] = listOf(reply);
  return {
    user: userFrom(user),
    channel: channelStateFrom(channel),
    threadUid: threadUidFrom(thread),
  };
}

function doneOrChanged(reply: Reply): "done" | "changed" {
  return reply === "done" ? "done" : "changed";
}
