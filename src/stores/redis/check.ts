import type { Suspicion } from "../backup/rules.ts";
import { seenUids } from "../backup/seen-uids.ts";
import type { SeenUids } from "../backup/seen-uids.ts";
import type { BackupSource } from "../backup/source.ts";
import { blockedRules } from "./check/blocked.ts";
import { channelRules } from "./check/channels.ts";
import { orderRules, settlingOf } from "./check/orders.ts";
import { auditSuspicions, operatorSuspicions } from "./check/operators.ts";
import { probeOf } from "./check/probe.ts";
import type { Probe } from "./check/probe.ts";
import { threadRules } from "./check/threads.ts";
import { userRules } from "./check/users.ts";
import type { RedisCommands } from "./commands.ts";
import { globalKeys, threadKeys, userKeys } from "./keys.ts";
import type { RedisLink } from "./link.ts";
import { hashPages } from "./pages.ts";
import { partsOfKey, scanKeys } from "./scan.ts";

/** Kinds of keys that belong to a thread: `KIND:{t:B}:UID`. */
const PARTS = new Set(["m", "q", "r", "ro", "p", "id", "out"]);

/** Everything in Redis that seems to break a rule, found while others work on it. */
export async function* redisSuspicions(
  link: RedisLink,
  redis: RedisCommands,
  {
    source,
    onWalked = () => {},
  }: { source: Pick<BackupSource, "thread">; onWalked?: ((records: number) => void) | undefined },
): AsyncIterable<Suspicion> {
  let walked = 0;
  const { restoring } = globalKeys;
  const isRestoring = async () => (await redis.read(restoring, "EXISTS", restoring)) === 1;
  // Until the restore has ended the records do not fit together.
  if (await isRestoring()) {
    yield { rule: "restore has not ended", what: restoring, isStill: isRestoring };
    return;
  }
  const probe = probeOf(redis);
  const threads = threadRules(probe);
  const channels = channelRules(probe);
  const named = await namesIn(link, redis);
  const orders = orderRules(probe, { named, ...(await settlingOf(link, probe)) });
  const suspectKey = keyRules(probe, { threads, channels, orders });
  const nameless = new Map<string, string>();

  for await (const keys of scanKeys(link)) {
    const found = await Promise.all(
      keys.map(async (key) => {
        const parts = partsOfKey(key);
        if (!parts) return [];
        if (parts.kind === "h") return threads.threadSuspicions(key, parts.id, source, named, nameless);
        return suspectKey(key, parts);
      }),
    );
    yield* found.flat();
    walked += keys.length;
    onWalked(walked);
  }
  yield* channels.listedChannelSuspicions();

  // They may have got a name meanwhile, or their name moved: names are read once more.
  if (nameless.size === 0) return;
  const again = await namesIn(link, redis);
  for (const [uid, key] of nameless) {
    if (again.has(uid)) continue;
    const isStill = async () => (await redis.read(key, "EXISTS", key)) === 1;
    yield { rule: "thread has no name", what: uid, isStill };
  }
}

/** The uids of all threads that a user has a name for. */
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

interface Rules {
  threads: ReturnType<typeof threadRules>;
  channels: ReturnType<typeof channelRules>;
  orders: ReturnType<typeof orderRules>;
}

/** The rules for a key, by its kind. */
function keyRules(probe: Probe, { threads, channels, orders }: Rules) {
  const users = userRules(probe);
  const blocked = blockedRules(probe);
  const { orphan } = probe;

  return async (name: string, { kind, tag, id }: Parts): Promise<Suspicion[]> => {
    // Events without a thread belong to the channel.
    if (kind === "out" && name.startsWith("out:{c:")) return [];
    if (PARTS.has(kind)) return orphan("part of a thread that is not there", name, threadKeys(id).header);
    switch (kind) {
      case "u":
        return [
          ...(await users.userSuspicions(name, tag, id)),
          ...(await blocked.userSuspicions(name, tag, id)),
        ];
      case "us":
        return users.listedSuspicions(name, tag);
      case "x":
        return users.externalSuspicions(name, tag);
      case "v":
        return users.tokenSuspicions(name, tag);
      case "n":
        return [
          ...(await orphan("thread names of nobody", name, userKeys(tag, id).user)),
          ...(await orders.nameSuspicions(name, tag, id)),
        ];
      case "d":
        return orphan("thread names of nobody", name, userKeys(tag, id).user);
      case "act":
        return orders.activitySuspicions(name, tag);
      case "busy":
        return orders.busySuspicions(name, tag, id);
      case "whose":
        return orders.ownerSuspicions(name, tag);
      case "bl":
        return blocked.listedSuspicions(name, tag);
      case "own":
        return threads.ownSuspicions(name);
      case "due":
        return threads.dueSuspicions(name);
      case "c":
        return channels.channelSuspicions(name, tag);
      case "operators":
        return operatorSuspicions(probe);
      case "audit":
        return auditSuspicions(probe);
      default:
        return [];
    }
  };
}
