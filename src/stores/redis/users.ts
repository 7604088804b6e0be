import type { Merge, UserStore } from "../../store/users.ts";
import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { channelKey, channelTag, externalIdKey, tokenKey, userKeys, usersKey } from "./keys.ts";
import {
  channelStateFrom,
  flag,
  listOf,
  numberOf,
  optional,
  pairsOf,
  textOf,
  textOrNull,
  textsOf,
  threadEntryFrom,
  threadUidFrom,
  userFrom,
} from "./records.ts";
import type { ArgsOf } from "./signatures.ts";

/** Users that are read in one go: a channel may have millions. */
const USERS_AT_ONCE = 500;

/** The channel plane: tokens, users, and whose a thread is; one slot for each channel. */
export function redisUsers(redis: RedisCommands): UserStore {
  return {
    async mintVisitor({ slug, tokenHash, userId, snapshot, ttlMs, atMs }) {
      const { user } = userKeys(slug, userId);
      const keys = { token: tokenKey(slug, tokenHash), user, users: usersKey(slug) };
      const args = { userId, snapshot, ttlMs: String(ttlMs), atMs: String(atMs) };
      await redis.call("mint_visitor", keys, args);
    },

    async admitVisitor({ slug, tokenHash, ttlMs, threadId: threadName }) {
      const keys = { token: tokenKey(slug, tokenHash), channel: channelKey(slug) };
      const args = { tag: channelTag(slug), ttlMs: String(ttlMs), threadName: optional(threadName) };
      const reply = await redis.call("admit_visitor", keys, args);
      if (reply === null) return null;
      return { ...admissionFrom(reply), snapshot: textOf(listOf(reply)[3]) };
    },

    async admitUser({ slug, externalId, displayName, newUserId, thread, creates, atMs }) {
      const keys = {
        external: externalIdKey(slug, externalId),
        channel: channelKey(slug),
        users: usersKey(slug),
      };
      const reply = await redis.call("admit_user", keys, {
        tag: channelTag(slug),
        externalId,
        displayName: optional(displayName),
        newUserId,
        threadName: optional(thread?.name ?? null),
        newUid: optional(thread?.newUid ?? null),
        creates: flag(creates),
        atMs: String(atMs),
      });
      return reply === null ? null : admissionFrom(reply);
    },

    async addThread({ slug, userId, threadId: name, uid, atMs }) {
      return (
        (await redis.call("add_thread", userKeys(slug, userId), { name, entry: `${uid} ${atMs}` })) === 1
      );
    },

    async spendTokens({ slug, userId, day, tokens }) {
      await redis.call("spend_tokens", userKeys(slug, userId), { day, tokens: String(tokens) });
    },

    async spentTokens(slug, userId, day) {
      const { days } = userKeys(slug, userId);
      return numberOf((await redis.read(days, "HGET", days, day)) ?? 0);
    },

    async readIdentity(slug, tokenHash, externalId) {
      const keys = { token: tokenKey(slug, tokenHash), external: externalIdKey(slug, externalId) };
      const reply = await redis.ask("read_identity", keys, { tag: channelTag(slug), externalId });
      const [user, snapshot, account] = listOf(reply);
      return {
        visitor: user ? { user: userFrom(user), snapshot: textOf(snapshot) } : null,
        account: account ? userFrom(account) : null,
      };
    },

    async promote({ slug, tokenHash, externalId, user, snapshot }) {
      const keys = {
        token: tokenKey(slug, tokenHash),
        external: externalIdKey(slug, externalId),
        user: userKeys(slug, user.userId).user,
      };
      const was = textsOf(user);
      const args = {
        userId: user.userId,
        externalId,
        snapshot,
        wasExternal: was.external,
        wasName: was.name,
        wasBlocked: was.blocked,
        wasWhitelisted: was.whitelisted,
      };
      return doneOrChanged(await redis.call("promote", keys, args));
    },

    async merge({ slug, tokenHash, from, into, result, snapshot }) {
      const left = userKeys(slug, from.userId);
      const right = userKeys(slug, into.userId);
      const keys = {
        token: tokenKey(slug, tokenHash),
        users: usersKey(slug),
        fromUser: left.user,
        fromNames: left.names,
        fromDays: left.days,
        intoUser: right.user,
        intoNames: right.names,
        intoDays: right.days,
      };
      return doneOrChanged(await redis.call("merge", keys, mergeArguments({ from, into, result, snapshot })));
    },

    async findUser(slug, id) {
      const keys = { user: userKeys(slug, id).user, external: externalIdKey(slug, id) };
      const reply = await redis.ask("find_user", keys, { tag: channelTag(slug) });
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
      const set = (value: boolean | undefined) => (value === undefined ? "" : flag(value));
      const args = { blocked: set(blocked), whitelisted: set(whitelisted) };
      const reply = await redis.call("flag_user", userKeys(slug, userId), args);
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

function mergeArguments(merge: Pick<Merge, "from" | "into" | "result" | "snapshot">): ArgsOf<"merge"> {
  const [from, into, result] = [textsOf(merge.from), textsOf(merge.into), textsOf(merge.result)];
  return {
    from: merge.from.userId,
    into: merge.into.userId,
    snapshot: merge.snapshot,
    fromExternal: from.external,
    fromName: from.name,
    fromBlocked: from.blocked,
    fromWhitelisted: from.whitelisted,
    intoExternal: into.external,
    intoName: into.name,
    intoBlocked: into.blocked,
    intoWhitelisted: into.whitelisted,
    resultExternal: result.external,
    resultName: result.name,
    resultBlocked: result.blocked,
    resultWhitelisted: result.whitelisted,
  };
}

function doneOrChanged(reply: Reply): "done" | "changed" {
  return reply === "done" ? "done" : "changed";
}
