import { holderOf } from "../../domain/fence.ts";
import type { Suspicion } from "../backup/rules.ts";
import { seenUids } from "../backup/seen-uids.ts";
import type { SeenUids } from "../backup/seen-uids.ts";
import type { BackupSource } from "../backup/source.ts";
import { suspectThread } from "../backup/suspect-thread.ts";
import type { RedisCommands } from "./commands.ts";
import {
  channelKey,
  dueKey,
  externalIdKey,
  globalKeys,
  holdersKey,
  ownKey,
  threadKeys,
  userKeys,
  usersKey,
} from "./keys.ts";
import { bucketOf } from "../buckets.ts";
import type { RedisLink } from "./link.ts";
import { hashPages } from "./pages.ts";
import { listOf, pairsOf, textOf, textOrNull } from "./records.ts";
import { partsOfKey, scanKeys } from "./scan.ts";

/** Kinds of keys that belong to a thread: `KIND:{t:B}:UID`. */
const PARTS = new Set(["m", "q", "r", "ro", "p", "id"]);
const DAY_MS = 24 * 3_600_000;

/** Everything in Redis that looks as if a rule did not hold, found while others work on it. */
export async function* redisSuspicions(
  link: RedisLink,
  redis: RedisCommands,
  source: Pick<BackupSource, "thread">,
): AsyncIterable<Suspicion> {
  const at = suspicionsOf(redis);
  const named = await namesIn(link, redis);
  const nameless = new Map<string, string>();

  for await (const keys of scanKeys(link)) {
    const found = await Promise.all(
      keys.map(async (key) => {
        const parts = partsOfKey(key);
        if (!parts) return [];
        if (parts.kind === "h") return at.thread(key, parts.id, source, named, nameless);
        return at.key(key, parts);
      }),
    );
    yield* found.flat();
  }
  yield* at.channels();

  // Named meanwhile, or its name moved: looked for once more.
  if (nameless.size === 0) return;
  const again = await namesIn(link, redis);
  for (const [uid, key] of nameless) {
    if (again.has(uid)) continue;
    const isStill = async () => (await redis.read(key, "EXISTS", key)) === 1;
    yield { rule: "thread has no name", what: uid, isStill };
  }
}

/** The uid of every thread that somebody has a name for. */
async function namesIn(link: RedisLink, redis: RedisCommands): Promise<SeenUids> {
  const seen = seenUids();
  for await (const keys of scanKeys(link, "n:{c:*")) {
    for (const key of keys) {
      for await (const pairs of hashPages(redis, key, 500)) {
        for (const [, entry] of pairs) seen.add(entry.slice(0, entry.lastIndexOf(" ")));
      }
    }
  }
  return seen;
}

type Parts = NonNullable<ReturnType<typeof partsOfKey>>;

function suspicionsOf(redis: RedisCommands) {
  const exists = async (key: string) => (await redis.read(key, "EXISTS", key)) === 1;
  const field = async (key: string, name: string) => textOrNull(await redis.read(key, "HGET", key, name));
  const score = async (key: string, member: string) =>
    (await redis.read(key, "ZSCORE", key, member)) !== null;

  /** A command on a key, where something holds of another of its slot. */
  const mend =
    (
      witness: string,
      test: [name: string, field?: string, value?: string],
      target: string,
      ...command: string[]
    ) =>
    async () => {
      const [name, tested = "", value = ""] = test;
      await redis.call("mend", { witness, target }, { test: name, field: tested, value }, command);
    };

  /** A suspicion, where it looks so at once. */
  async function suspect(suspicion: Suspicion): Promise<Suspicion[]> {
    return (await suspicion.isStill()) ? [suspicion] : [];
  }

  /** A key that means nothing without another one. */
  const orphan = (rule: Suspicion["rule"], key: string, owner: string): Promise<Suspicion[]> =>
    suspect({
      rule,
      what: key,
      isStill: async () => (await exists(key)) && !(await exists(owner)),
      mend: mend(owner, ["absent"], key, "DEL"),
    });

  async function userSuspicions(key: string, slug: string, userId: string): Promise<Suspicion[]> {
    const users = usersKey(slug);
    const unlisted = suspect({
      rule: "user is not listed",
      what: key,
      isStill: async () => !(await score(users, userId)) && (await exists(key)),
      mend: mend(key, ["present"], users, "ZADD", "NX", String(Date.now() * 1000), userId),
    });
    const external = await field(key, "external");
    if (external === null) return unlisted;
    const leads = externalIdKey(slug, external);
    const unreached = suspect({
      rule: "account is not reached",
      what: key,
      isStill: async () =>
        textOrNull(await redis.read(leads, "GET", leads)) === null &&
        (await field(key, "external")) === external,
      mend: mend(key, ["is", "external", external], leads, "SET", userId, "NX"),
    });
    return [...(await unlisted), ...(await unreached)];
  }

  async function listedSuspicions(key: string, slug: string): Promise<Suspicion[]> {
    const found: Suspicion[] = [];
    for await (const pairs of hashPages(redis, key, 500, "ZSCAN")) {
      const suspicions = pairs.map(([userId]) => {
        const { user } = userKeys(slug, userId);
        return suspect({
          rule: "listed user is gone",
          what: user,
          isStill: async () => !(await exists(user)) && (await score(key, userId)),
          mend: mend(user, ["absent"], key, "ZREM", userId),
        });
      });
      found.push(...(await Promise.all(suspicions)).flat());
    }
    return found;
  }

  async function externalSuspicions(key: string, slug: string): Promise<Suspicion[]> {
    const leadsTo = async () => textOrNull(await redis.read(key, "GET", key));
    const userId = await leadsTo();
    if (userId === null) return [];
    return suspect({
      rule: "external id leads to nobody",
      what: key,
      isStill: async () => !(await exists(userKeys(slug, userId).user)) && (await leadsTo()) === userId,
      // Who is gone does not come back.
      mend: mend(key, ["says", "", userId], key, "DEL"),
    });
  }

  async function tokenSuspicions(key: string, slug: string): Promise<Suspicion[]> {
    const userId = await field(key, "user");
    if (userId === null) return [];
    const [stray, endless] = await Promise.all([
      suspect({
        rule: "token leads to nobody",
        what: key,
        // In this order: an identify that moves the token takes its user away.
        isStill: async () =>
          !(await exists(userKeys(slug, userId).user)) && (await field(key, "user")) === userId,
        mend: mend(key, ["is", "user", userId], key, "DEL"),
      }),
      suspect({
        rule: "token never ends",
        what: key,
        isStill: async () => (await redis.read(key, "PTTL", key)) === -1,
        mend: mend(key, ["present"], key, "PEXPIRE", String(DAY_MS), "NX"),
      }),
    ]);
    return [...stray, ...endless];
  }

  async function ownSuspicions(key: string): Promise<Suspicion[]> {
    const holds = pairsOf(await redis.read(key, "HGETALL", key));
    const suspicions = holds.map(([uid, fence]) => {
      const { header } = threadKeys(uid);
      return suspect({
        rule: "hold of a thread that is not held so",
        what: `${key} ${uid}`,
        isStill: async () => {
          const [listed, held] = await Promise.all([field(key, uid), field(header, "fence")]);
          return listed === fence && held !== fence;
        },
        // A fence that was let go never comes back.
        mend: mend(key, ["is", uid, fence], key, "HDEL", uid),
      });
    });
    return (await Promise.all(suspicions)).flat();
  }

  async function dueSuspicions(key: string): Promise<Suspicion[]> {
    const uids = listOf(await redis.read(key, "ZRANGE", key, "0", "-1")).map(textOf);
    const suspicions = uids.map((uid) => {
      const { header } = threadKeys(uid);
      return suspect({
        rule: "deadline of a thread that does not rest",
        what: `${key} ${uid}`,
        isStill: async () => !(await rests(header)) && (await score(key, uid)),
        mend: mend(header, ["moves"], key, "ZREM", uid),
      });
    });
    return (await Promise.all(suspicions)).flat();
  }

  async function rests(header: string): Promise<boolean> {
    const [state, fence] = listOf(await redis.read(header, "HMGET", header, "state", "fence"));
    return state === "awaiting" && fence === null;
  }

  function key(name: string, { kind, tag, id }: Parts): Promise<Suspicion[]> {
    if (PARTS.has(kind)) return orphan("part of a thread that is not there", name, threadKeys(id).header);
    switch (kind) {
      case "u":
        return userSuspicions(name, tag, id);
      case "us":
        return listedSuspicions(name, tag);
      case "x":
        return externalSuspicions(name, tag);
      case "v":
        return tokenSuspicions(name, tag);
      case "n":
      case "d":
        return orphan("thread names of nobody", name, userKeys(tag, id).user);
      case "own":
        return ownSuspicions(name);
      case "due":
        return dueSuspicions(name);
      default:
        return channelSuspicion(name, kind, tag);
    }
  }

  async function channelSuspicion(name: string, kind: string, slug: string): Promise<Suspicion[]> {
    if (kind === "restoring") {
      return [{ rule: "restore has not ended", what: name, isStill: () => exists(name) }];
    }
    if (kind !== "c") return [];
    const { channels: set, changes } = globalKeys;
    return suspect({
      rule: "channel is not listed",
      what: name,
      isStill: async () => (await redis.read(set, "SISMEMBER", set, slug)) === 0 && (await exists(name)),
      async mend() {
        await redis.call("change_set", { set, changes }, { command: "SADD", member: slug, always: "1" });
      },
    });
  }

  return {
    key,

    async thread(
      header: string,
      uid: string,
      source: Pick<BackupSource, "thread">,
      named: SeenUids,
      nameless: Map<string, string>,
    ): Promise<Suspicion[]> {
      if (!named.has(uid)) nameless.set(uid, header);
      const bucket = bucketOf(uid);
      const [fence, isResting] = await Promise.all([field(header, "fence"), rests(header)]);
      const found = await suspectThread(uid, source);
      if (fence !== null) {
        const own = ownKey(bucket, holderOf(fence));
        const list = mend(header, ["is", "fence", fence], own, "HSET", uid, fence);
        const unlisted = await suspect({
          rule: "thread is held and not listed",
          what: header,
          isStill: async () => {
            const [listed, held] = await Promise.all([field(own, uid), field(header, "fence")]);
            return held === fence && listed !== fence;
          },
          async mend() {
            await list();
            const holders = holdersKey(bucket);
            await redis.write(holders, "SADD", holders, holderOf(fence));
          },
        });
        found.push(...unlisted);
      } else if (isResting) {
        const due = dueKey(bucket);
        const endless = await suspect({
          rule: "resting thread has no deadline",
          what: header,
          isStill: async () => (await rests(header)) && !(await score(due, uid)),
          mend: mend(header, ["rests"], due, "ZADD", "NX", String(Date.now()), uid),
        });
        found.push(...endless);
      }
      return found;
    },

    async *channels(): AsyncIterable<Suspicion> {
      const { channels: set, changes } = globalKeys;
      const slugs = listOf(await redis.read(set, "SMEMBERS", set)).map(textOf);
      for (const slug of slugs) {
        const name = channelKey(slug);
        yield* await suspect({
          rule: "channel is listed and not there",
          what: name,
          isStill: async () => !(await exists(name)) && (await redis.read(set, "SISMEMBER", set, slug)) === 1,
          async mend() {
            await redis.call("change_set", { set, changes }, { command: "SREM", member: slug, always: "1" });
          },
        });
      }
    },
  };
}
