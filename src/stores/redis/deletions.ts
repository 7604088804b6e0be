import { holderOf } from "../../domain/fence.ts";
import { StoreUnavailable } from "../../store.ts";
import type { Deletion, DeletionStore, ErasedThread } from "../../store/deletions.ts";
import { bucketOf } from "../buckets.ts";
import { unlistBusy } from "./busy.ts";
import type { RedisCommands } from "./commands.ts";
import {
  activityKey,
  blockedUsersKey,
  changesKey,
  channelOutboxKeys,
  dueKey,
  externalIdKey,
  globalKeys,
  goneKey,
  ownersKey,
  ownKey,
  threadKeys,
  tokenKey,
  userKeys,
  usersKey,
} from "./keys.ts";
import type { RedisLink } from "./link.ts";
import { scoresOf } from "./pages.ts";
import { listOf, textOf, textOrNull } from "./records.ts";
import { dropToldOf } from "./told-users.ts";
import { tellEntries } from "./identity.ts";
import { partsOfKey, scanKeys } from "./scan.ts";
import { areTokensKnown, eraseToken, eraseTokensOf } from "./user-tokens.ts";

/**
 * How often a step is repeated because what it named has changed: a thread that is merged, taken and released
 * meanwhile.
 */
const MOST_TRIES = 20;

/** For a thread that no process holds: any key of its slot will do as the holder's key. */
const NOBODY = "nobody";

/** The owner of a thread by `whose:{c:S}`, or by its user's names; null: unknown. */
export type OwnerOf = (slug: string, uid: string) => Promise<string | null>;

export function redisDeletions(
  redis: RedisCommands,
  link: Pick<RedisLink, "shards">,
  ownerOf: OwnerOf,
): DeletionStore {
  const { deleting, sweeping } = globalKeys;
  const memberOf = ({ kind, slug, id }: Deletion) => `${kind} ${slug} ${id}`;

  /** `ifRev`: only if that is the thread's revision; '': whatever its revision. */
  function erase(uid: string, atMs: number, ifRev: string): Promise<ErasedThread | "changed"> {
    const bucket = bucketOf(uid);
    let fence = "";
    return untilItIsSo(`erase thread ${uid}`, async (): Promise<ErasedThread | "changed" | null> => {
      const own = ownKey(bucket, fence === "" ? NOBODY : holderOf(fence));
      const keys = { ...threadKeys(uid), due: dueKey(bucket), own };
      const args = { uid, fence, atMs: String(atMs), ifRev };
      const [type, fact, watchers] = listOf(await redis.call("erase_thread", keys, args));
      if (type === "changed") return type;
      if (type === "erased") return { fence: fence || null, watchers: listOf(watchers ?? []).map(textOf) };
      fence = textOrNull(fact) ?? "";
      return null;
    });
  }

  return {
    async planDeletion(deletion) {
      await redis.write(deleting, "ZADD", deleting, "NX", String(deletion.atMs), memberOf(deletion));
    },

    async plannedDeletions(limit) {
      const range = ["0", String(limit - 1), "WITHSCORES"];
      const found = scoresOf(await redis.peek(deleting, "ZRANGE", deleting, ...range));
      return found.map(([member, score]) => deletionFrom(member, Number(score)));
    },

    async endDeletion(deletion) {
      await redis.write(deleting, "ZREM", deleting, memberOf(deletion));
    },

    async unlistThread({ slug, id: uid, atMs }, tells = []) {
      let owner = (await ownerOf(slug, uid)) ?? "";
      await untilItIsSo(`delete thread ${uid}`, async () => {
        const { names } = userKeys(slug, owner.split(" ", 1)[0] ?? "");
        const keys = {
          names,
          owners: ownersKey(slug),
          activity: activityKey(slug),
          changed: changesKey(slug),
          gone: goneKey(slug),
          ...channelOutboxKeys(slug),
        };
        const args = { uid, owner, atMs: String(atMs), slug };
        const [type, fact] = listOf(await redis.call("unlist_thread", keys, args, tellEntries(tells)));
        if (type === "done") return true;
        owner = textOf(fact);
        return null;
      });
      await unlistBusy(redis, slug, [uid]);
    },

    async unlistUser({ slug, id: userId, atMs }, tells = []) {
      // First, while the user's record still names them.
      await eraseTokensOf(redis, slug, userId);
      let externalId = "";
      const uids = await untilItIsSo(`delete user ${userId}`, async () => {
        const keys = {
          ...userKeys(slug, userId),
          users: usersKey(slug),
          blocked: blockedUsersKey(slug),
          external: externalIdKey(slug, externalId),
          owners: ownersKey(slug),
          activity: activityKey(slug),
          changed: changesKey(slug),
          gone: goneKey(slug),
          ...channelOutboxKeys(slug),
        };
        const args = { userId, externalId, atMs: String(atMs), slug };
        const [type, fact] = listOf(await redis.call("unlist_user", keys, args, tellEntries(tells)));
        if (type === "done") return listOf(fact ?? []).map(textOf);
        externalId = textOrNull(fact) ?? "";
        return null;
      });
      await unlistBusy(redis, slug, uids);
      await dropToldOf(redis, slug, userId);
      return uids;
    },

    async eraseThread(uid, atMs) {
      const erased = await erase(uid, atMs, "");
      if (erased === "changed") throw new Error(`Cannot erase thread ${uid}: a revision was compared`);
      return erased;
    },

    async eraseUnchanged(uid, atMs, rev) {
      const erased = await erase(uid, atMs, String(rev));
      return erased === "changed" ? null : erased;
    },

    async eraseTokens(slug, userIds) {
      if (await areTokensKnown(redis)) return;
      const users = new Set(userIds);
      for await (const keys of scanKeys(link, tokenKey(slug, "*"))) {
        await Promise.all(
          keys.map(async (token) => {
            const userId = textOrNull(await redis.peek(token, "HGET", token, "user"));
            if (userId === null || !users.has(userId)) return;
            await eraseToken(redis, slug, partsOfKey(token)?.id ?? "", userId);
          }),
        );
      }
    },

    async sweepPlace(slug) {
      return textOrNull(await redis.read(sweeping, "HGET", sweeping, slug));
    },

    async setSweepPlace(slug, place) {
      if (place === null) await redis.write(sweeping, "HDEL", sweeping, slug);
      else await redis.write(sweeping, "HSET", sweeping, slug, place);
    },
  };
}

/** Repeats a step until it has a result; null: what it named has changed. */
async function untilItIsSo<Result>(action: string, step: () => Promise<Result | null>): Promise<Result> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const result = await step();
    if (result !== null) return result;
  }
  throw new StoreUnavailable(action, { fact: "it changes again and again" });
}

function deletionFrom(member: string, atMs: number): Deletion {
  const [kind, slug = "", ...id] = member.split(" ");
  return { kind: kind === "user" ? "user" : "thread", slug, id: id.join(" "), atMs };
}
