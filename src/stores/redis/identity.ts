import { StoreUnavailable } from "../../store.ts";
import type { User } from "../../domain/user.ts";
import type { Merge, UserStore } from "../../store/users.ts";
import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import {
  blockedUsersKey,
  channelOutboxKeys,
  globalKeys,
  externalIdKey,
  ownersKey,
  tokenKey,
  userKeys,
  usersKey,
} from "./keys.ts";
import { sealedText } from "./outbox.ts";
import type { SealedTelling } from "../../store/outbox.ts";
import type { KnownUsers } from "./known-users.ts";
import { listOf, textOrNull, textsOf, USER_FIELDS, userFrom } from "./records.ts";
import type { ArgsOf } from "./signatures.ts";

interface BoundToken {
  userId: string;
  snapshot: string;
  /** The user's count of revocations when the token was bound. */
  revocations: string;
}

/** How long after a merge an older run may still report tokens under the former user; the account pays for them. */
const SPENDING_KEPT_MS = 2 * 86_400_000;

/** How often one identify reads again because its token was bound to another user meanwhile. */
const MOST_READINGS = 5;

/** Identify: its read and its two steps. Each step names what was read, and does nothing if it has changed. */
export function redisIdentity(
  redis: RedisCommands,
  known: KnownUsers,
): Pick<UserStore, "readIdentity" | "promote" | "merge" | "findUser"> {
  async function recordOf(
    slug: string,
    userId: string | null,
  ): Promise<{ user: User; revocations: string } | null> {
    if (userId === null) return null;
    const { user } = userKeys(slug, userId);
    const reply = listOf(await redis.read(user, "HMGET", user, ...USER_FIELDS, "revocations"));
    if (textOrNull(reply[0]) === null) return null;
    return { user: userFrom(reply), revocations: textOrNull(reply[USER_FIELDS.length]) ?? "0" };
  }

  async function userOf(slug: string, userId: string | null): Promise<User | null> {
    return (await recordOf(slug, userId))?.user ?? null;
  }

  async function tokenOf(token: string): Promise<BoundToken | null> {
    const fields = listOf(await redis.read(token, "HMGET", token, "user", "snapshot", "revocations"));
    const [userId, snapshot, revocations] = fields.map(textOrNull);
    if (typeof userId !== "string") return null;
    return { userId, snapshot: snapshot ?? "", revocations: revocations ?? "0" };
  }

  async function accountIdOf(slug: string, externalId: string): Promise<string | null> {
    const key = externalIdKey(slug, externalId);
    return textOrNull(await redis.read(key, "GET", key));
  }

  return {
    // Key by key, which works best while a slot moves. What changes in between is noticed by the token's second read
    // or by the step.
    async readIdentity(slug, tokenHash, externalId) {
      const token = tokenKey(slug, tokenHash);
      for (let readings = 0; readings < MOST_READINGS; readings++) {
        const [bound, accountId] = await Promise.all([tokenOf(token), accountIdOf(slug, externalId)]);
        const [held, account, still] = await Promise.all([
          recordOf(slug, bound?.userId ?? null),
          userOf(slug, accountId),
          tokenOf(token),
        ]);
        if (bound?.userId !== still?.userId || bound?.snapshot !== still?.snapshot) continue;
        return {
          visitor:
            bound && held?.revocations === bound.revocations
              ? { user: held.user, snapshot: bound.snapshot }
              : null,
          // A record without the external id is not an account yet: its promotion was interrupted, and will be
          // continued.
          account: account?.externalId === externalId ? account : null,
        };
      }
      throw new StoreUnavailable("read an identity", { fact: "its token is bound again and again" });
    },

    async promote({ slug, tokenHash, externalId, user, snapshot, tells = [] }) {
      const keys = {
        ...channelOutboxKeys(slug),
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
        wasAttributes: was.attributes,
        ...toldOf(slug, tells),
      };
      return doneOrChanged(await redis.call("promote", keys, args, tellEntries(tells)));
    },

    async merge({ slug, tokenHash, from, into, result, snapshot, tells = [] }) {
      const token = tokenKey(slug, tokenHash);
      const left = userKeys(slug, from.userId);
      const right = userKeys(slug, into.userId);
      const keys = {
        ...channelOutboxKeys(slug),
        token,
        users: usersKey(slug),
        fromUser: left.user,
        fromNames: left.names,
        fromDays: left.days,
        intoUser: right.user,
        intoNames: right.names,
        intoDays: right.days,
        moved: left.moved,
        owners: ownersKey(slug),
        blocked: blockedUsersKey(slug),
      };
      const args = { ...mergeArguments({ from, into, result, snapshot }), ...toldOf(slug, tells) };
      const reply = await redis.call("merge", keys, args, tellEntries(tells));
      const outcome = doneOrChanged(reply);
      if (outcome === "done") known.set(token, into.userId);
      // A user who could talk before is blocked now: every instance is notified.
      if (outcome === "done" && result.blocked && !from.blocked)
        await redis.call("note_change", globalKeys, {});
      return outcome;
    },

    async findUser(slug, id) {
      const [user, accountId] = await Promise.all([userOf(slug, id), accountIdOf(slug, id)]);
      return user ?? userOf(slug, accountId);
    },
  };
}

function toldOf(slug: string, [first]: readonly SealedTelling[]): { slug: string; atMs: string } {
  return { slug, atMs: String(first?.atMs ?? 0) };
}

/** The events for webhooks, as the functions take them: the event's id, an endpoint, the text. */
export function tellEntries(tells: readonly SealedTelling[]): string[] {
  return tells.flatMap((telling) => [telling.id, telling.endpoint, sealedText(telling)]);
}

function mergeArguments(
  merge: Pick<Merge, "from" | "into" | "result" | "snapshot">,
): Omit<ArgsOf<"merge">, "slug" | "atMs"> {
  const [from, into, result] = [textsOf(merge.from), textsOf(merge.into), textsOf(merge.result)];
  return {
    from: merge.from.userId,
    into: merge.into.userId,
    snapshot: merge.snapshot,
    movedKeptMs: String(SPENDING_KEPT_MS),
    fromExternal: from.external,
    fromName: from.name,
    fromBlocked: from.blocked,
    fromWhitelisted: from.whitelisted,
    fromAttributes: from.attributes,
    intoExternal: into.external,
    intoName: into.name,
    intoBlocked: into.blocked,
    intoWhitelisted: into.whitelisted,
    intoAttributes: into.attributes,
    resultExternal: result.external,
    resultName: result.name,
    resultBlocked: result.blocked,
    resultWhitelisted: result.whitelisted,
    resultAttributes: result.attributes,
  };
}

function doneOrChanged(reply: Reply): "done" | "changed" {
  return reply === "done" ? "done" : "changed";
}
