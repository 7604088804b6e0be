import { ErrorReply } from "redis";
import type { Clock } from "../clock.ts";
import { newId } from "../domain/ids.ts";
import { STORE_DEADLINE_MS, StoreUnavailable } from "../store.ts";
import type { InstanceMessage, Store } from "../store.ts";
import { refuseRestoring } from "./backup/restoring.ts";
import { isObject } from "./checks.ts";
import { createActivity } from "./redis/activity.ts";
import { createBusy } from "./redis/busy.ts";
import { ownerOf, redisChannelThreads } from "./redis/channel-threads.ts";
import { redisChannels } from "./redis/channels.ts";
import { linkToCluster } from "./redis/cluster.ts";
import { createCommands } from "./redis/commands.ts";
import type { OnCommand } from "./redis/commands.ts";
import { checkFormat } from "./redis/format.ts";
import { redisContentKeys } from "./redis/content-keys.ts";
import { redisDeletions } from "./redis/deletions.ts";
import { redisHealth } from "./redis/health.ts";
import { globalKeys, messageChannel, ROTATED_TOKENS } from "./redis/keys.ts";
import { redisRestoring } from "./redis/import.ts";
import { redisLiveness } from "./redis/liveness.ts";
import type { LinkLog, RedisLink } from "./redis/link.ts";
import { jsonValue } from "./redis/records.ts";
import { lackedCommand } from "./redis/lacked-command.ts";
import { linkToServer } from "./redis/single.ts";
import { redisOutbox } from "./redis/outbox.ts";
import { redisOperators } from "./redis/operators.ts";
import { redisStats } from "./redis/stats.ts";
import { redisThreads } from "./redis/threads.ts";
import { createUnlistedHolders } from "./redis/unlisted-holders.ts";
import { redisUsers } from "./redis/users.ts";

/**
 * The implementation on Redis, or on a Redis Cluster: shared by any number of processes.
 *
 * Each step of the store is one Redis Function on one slot (redis/functions/), so each is atomic: a process that dies
 * leaves all of it or nothing. A Redis that restarted empty gets the functions again.
 */
export async function openRedisStore(options: {
  /** One server, or several seed nodes of a cluster. */
  urls: string[];
  /** `replica`: a change counts when a replica has it too (WAIT 1); otherwise its outcome is unknown. */
  durability: "local" | "replica";
  clock: Clock;
  log: LinkLog;
  /** The limit for each call. */
  deadlineMs?: number;
  /** Gets each round trip. */
  onCommand?: OnCommand;
}): Promise<Store> {
  const { urls, log, deadlineMs = STORE_DEADLINE_MS } = options;
  const [url] = urls;
  if (url === undefined) throw new Error("Cannot open the store: no Redis URL was given");

  const reconnected = new Set<() => void>();
  const linked = {
    deadlineMs,
    log: {
      warn: (fields: object, text: string) => log.warn(fields, text),
      connected: () => reconnected.forEach((callback) => callback()),
    },
  };
  const link = urls.length === 1 ? await linkToServer(url, linked) : await linkToCluster(urls, linked);
  try {
    return await storeOver(link, { ...options, reconnected });
  } catch (error) {
    link.close();
    throw refused(error);
  }
}

/** If Redis refused a step of the opening, for example for lack of rights, the error has its answer. */
function refused(error: unknown): unknown {
  const answer = error instanceof StoreUnavailable ? error.cause : error;
  if (!(answer instanceof ErrorReply)) return error;
  const fact = lackedCommand(answer.message) ?? `it answers ${answer.message}`;
  return new StoreUnavailable("open the store on Redis", { fact, cause: error });
}

/** The store behind a link; closing it closes the link. */
export async function storeOver(
  link: RedisLink,
  options: {
    durability: "local" | "replica";
    log: LinkLog;
    deadlineMs?: number;
    onCommand?: OnCommand;
    /** Called whenever a connection is ready. */
    reconnected?: Set<() => void>;
  },
): Promise<Store> {
  const { durability, log, deadlineMs = STORE_DEADLINE_MS, onCommand, reconnected = new Set() } = options;
  const processId = newId();
  const redis = createCommands({ link, durability, deadlineMs, onCommand });
  // Without WAIT and without onCommand: for background work that no caller waits for, and for the format, which every
  // start raises again.
  const local = createCommands({ link, durability: "local", deadlineMs });
  await checkFormat(local);
  refuseRestoring(await redisRestoring(local), "on Redis");

  // A Redis that came back empty has no format; a later start would take that for the first one.
  reconnected.add(() => void checkFormat(local).catch(() => {}));

  const changed = new Set<() => void>();
  const tellChange = () => changed.forEach((callback) => callback());
  let changeCount: string | null = null;
  let onMessage: (message: InstanceMessage) => void = () => {};
  /** Messages in flight: closing the store waits for them. */
  const sending = new Set<Promise<unknown>>();
  const publish = (box: string, text: string) => {
    // Messages are best effort: a process that needs an answer asks again.
    const sent: Promise<unknown> = redis
      .peek(box, "PUBLISH", box, text)
      .catch(() => {})
      .then(() => sending.delete(sent));
    sending.add(sent);
  };
  const rotated = new Set<(tokenHash: string) => void>();
  const tellRotated = (tokenHash: string) => rotated.forEach((callback) => callback(tokenHash));
  await link.subscribe(globalKeys.changes, tellChange);
  await link.subscribe(ROTATED_TOKENS, tellRotated);
  await link.subscribe(messageChannel(processId), (text) => {
    const message = jsonValue(text);
    if (isObject(message)) onMessage(message);
    else log.warn({ chars: text.length }, "a message between instances is no JSON object: ignored");
  });

  const threads = redisThreads(redis);
  const deletions = redisDeletions(redis, link, (slug, uid) => ownerOf(redis, slug, uid));
  const activity = createActivity({ redis, background: local });
  const busy = createBusy(local);
  // Publish/subscribe may lose a notice, so each beat compares the count too.
  const countChanges = (count: string) => {
    if (changeCount !== null && changeCount !== count) tellChange();
    changeCount = count;
  };
  // No caller waits for it: a list that is read does the same.
  const tidy = () => void busy.tidy().catch(() => {});
  const liveness = redisLiveness(redis, processId, countChanges, tidy);
  const unlisted = createUnlistedHolders({ link, redis, processId, log });

  return {
    kind: "redis",
    processId,
    ...redisChannels(redis),
    isRestoring: async () => (await redisRestoring(local)) !== null,
    ...redisUsers(redis, deletions, (tokenHash) => {
      // Directly, in case the subscription of this process is down.
      tellRotated(tokenHash);
      publish(ROTATED_TOKENS, tokenHash);
    }),
    ...deletions,
    ...redisChannelThreads({ redis, background: local, processId, busy, link }),
    ...redisOperators(redis),
    ...redisStats({ redis, background: local }),
    contentKeys: redisContentKeys(redis),
    outbox: redisOutbox(redis, processId),
    ...threads,
    ...liveness,

    commit: (commit) =>
      liveness.whileKnown((stamp) => {
        activity.committing(commit);
        busy.committing(commit);
        return threads.commit(commit, stamp);
      }),

    watch: (uid) => threads.watch(uid, processId),

    async holders(share) {
      unlisted.list();
      return liveness.holders(share);
    },

    onReconnect(callback) {
      reconnected.add(callback);
      return () => reconnected.delete(callback);
    },

    onChange(callback) {
      changed.add(callback);
      return () => changed.delete(callback);
    },

    onTokenRotated(callback) {
      rotated.add(callback);
      return () => rotated.delete(callback);
    },

    send: (to, message) => publish(messageChannel(to), JSON.stringify(message)),

    onMessage(handler) {
      onMessage = handler;
    },

    health: () => redisHealth({ link, redis, durability, deadlineMs }),

    async close() {
      await activity.close();
      await busy.close();
      await Promise.all(sending);
      link.close();
    },
  };
}
