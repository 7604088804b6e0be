import type { Attributes } from "../../domain/attributes.ts";
import { newId } from "../../domain/ids.ts";
import { StoreUnavailable } from "../../store.ts";
import type { DeletionStore } from "../../store/deletions.ts";
import type { UserAdmission, UserStore } from "../../store/users.ts";
import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { activityKey, channelKey, externalIdKey, ownersKey, tokenKey, userKeys, usersKey } from "./keys.ts";
import type { KnownUsers } from "./known-users.ts";
import {
  attributesText,
  channelStateFrom,
  flag,
  listOf,
  optional,
  textOf,
  textOrNull,
  threadUidFrom,
  userFrom,
} from "./records.ts";

/** How often an admission may find that the user is another one: each time, somebody was merged meanwhile. */
const MOST_MOVES = 5;

/** Admissions: one step if this process knows the user already; otherwise a read or another call comes first. */
export function redisAdmissions(
  redis: RedisCommands,
  known: KnownUsers,
  { eraseThread }: Pick<DeletionStore, "eraseThread">,
): Pick<UserStore, "admitVisitor" | "admitUser"> {
  /** Admits the user that a key leads to: `first`, or the one that the function names instead. Null: not admitted. */
  async function admitted(
    action: string,
    leads: string,
    first: string,
    ask: (userId: string) => Promise<Reply>,
  ): Promise<Reply[] | null> {
    let userId = first;
    for (let moves = 0; moves <= MOST_MOVES; moves++) {
      const reply = await ask(userId);
      if (reply === null) {
        known.forget(leads);
        return null;
      }
      const [type, ...rest] = listOf(reply);
      if (type === "admitted") {
        known.set(leads, userId);
        return rest;
      }
      userId = textOf(rest[0]);
    }
    throw new StoreUnavailable(action, { fact: "its user moves again and again" });
  }

  /** If the name is a deleted thread's, erases what is left of that thread first: nothing refers to it afterwards. */
  async function pastDeleted(atMs: number, ask: (erased: string) => Promise<Reply>): Promise<Reply> {
    for (let erased = ""; ;) {
      const reply = await ask(erased);
      const [type, uid] = reply === null ? [] : listOf(reply);
      if (type !== "deleted") return reply;
      erased = textOf(uid);
      await eraseThread(erased, atMs);
    }
  }

  return {
    async admitVisitor({ slug, tokenHash, ttlMs, threadId: threadName }) {
      const token = tokenKey(slug, tokenHash);
      const first = known.get(token) ?? textOrNull(await redis.read(token, "HGET", token, "user"));
      if (first === null) return null;
      const reply = await admitted("admit a visitor", token, first, (userId) => {
        const { user, names } = namesWhere(threadName !== null, userKeys(slug, userId));
        const keys = { token, channel: channelKey(slug), user, names };
        const args = { userId, ttlMs: String(ttlMs), threadName: optional(threadName) };
        return redis.call("admit_visitor", keys, args);
      });
      if (!reply) return null;
      const [, , , snapshot, ends] = reply;
      const endsAtMs = textOrNull(ends);
      return {
        ...admissionFrom(reply),
        snapshot: textOf(snapshot),
        ...(endsAtMs === null ? {} : { endsAtMs: Number(endsAtMs) }),
      };
    },

    async admitUser({ slug, externalId, displayName, attributes, newUserId, thread, creates, atMs }) {
      const external = externalIdKey(slug, externalId);
      const reply = await admitted("admit a user", external, known.get(external) ?? newUserId, (userId) => {
        const { user, names } = namesWhere(thread !== null, userKeys(slug, userId));
        const orders = ordersWhere(typeof thread?.newUid === "string", slug, user);
        const keys = { external, channel: channelKey(slug), users: usersKey(slug), user, names, ...orders };
        const args = {
          userId,
          externalId,
          displayName: optional(displayName),
          attributes: optional(attributesArgument(attributes)),
          newUserId,
          threadName: optional(thread?.name ?? null),
          newUid: optional(thread?.newUid ?? null),
          otherUid: newId(),
          creates: flag(creates),
          atMs: String(atMs),
        };
        return pastDeleted(atMs, (erased) => redis.call("admit_user", keys, { ...args, erased }));
      });
      return reply && admissionFrom(reply);
    },
  };
}

/** An empty map is sent as an empty text: it removes the user's attributes. */
function attributesArgument(attributes: Attributes | undefined): string | null {
  return attributes && Object.keys(attributes).length === 0 ? "" : attributesText(attributes);
}

/** While a slot moves, a key that does not exist delays a step: so keys that are not needed are not declared. */
function namesWhere(isAsked: boolean, { user, names }: { user: string; names: string }) {
  return { user, names: isAsked ? names : user };
}

function ordersWhere(isAsked: boolean, slug: string, other: string) {
  return isAsked
    ? { owners: ownersKey(slug), activity: activityKey(slug) }
    : { owners: other, activity: other };
}

function admissionFrom([user, channel, thread]: Reply[]): UserAdmission {
  return {
    user: userFrom(user),
    channel: channelStateFrom(channel),
    threadUid: threadUidFrom(thread),
  };
}
