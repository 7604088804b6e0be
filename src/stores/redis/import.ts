import { holderOf } from "../../domain/fence.ts";
import type {
  BackupAudit,
  BackupRecord,
  BackupToken,
  BackupUser,
  ThreadPiece,
  WholeThread,
} from "../backup/records.ts";
import { readRestoring } from "../backup/restoring.ts";
import type { Restoring, RestoreTarget } from "../backup/source.ts";
import { bucketOf } from "../buckets.ts";
import { catalogKind, runKind } from "../records.ts";
import { redisChannels } from "./channels.ts";
import { keyIdOf } from "../content-keys/cipher.ts";
import { contentKeyFields } from "./content-keys.ts";
import type { RedisCommands } from "./commands.ts";
import { checkFormat } from "./format.ts";
import { redisFormat } from "./export.ts";
import {
  allBuckets,
  blockedUsersKey,
  channelKey,
  dueKey,
  externalIdKey,
  globalKeys,
  holdersKey,
  ownersKey,
  ownKey,
  statsKey,
  threadKeys,
  tokenKey,
  unqueuedKey,
  userKeys,
  usersKey,
} from "./keys.ts";
import type { RedisLink } from "./link.ts";
import { auditText, redisOperators } from "./operators.ts";
import {
  attributesText,
  flag,
  jsonValue,
  messageEntry,
  RENAMED,
  summaryOf,
  textOrNull,
  waitingEntry,
} from "./records.ts";
import { statsCommands } from "./stats.ts";
import { retried } from "./retrying-reads.ts";
import { partsOfKey, scanKeys } from "./scan.ts";

const RESTORING = globalKeys.restoring;

/** The restore that has begun on this Redis and not ended. */
export async function redisRestoring(redis: RedisCommands): Promise<Restoring | null> {
  const text = textOrNull(await redis.read(RESTORING, "GET", RESTORING));
  return text === null ? null : readRestoring(jsonValue(text), RESTORING);
}

/** Kinds of keys that an empty store does not have: of users, of what refers to them, and of threads. */
const FILLED = new Set(["u", "us", "x", "n", "d", "v", "h", "m", "q", "r", "ro", "p", "id"]);

/** All of them are in flight at once, and each must end within a call's deadline. */
const RECORDS_AT_ONCE = 256;

/** The key that decides which server gets the command, and the command. */
type Written = [key: string, ...command: string[]];

/** Redis as the target of a restore. */
export function redisTarget(link: RedisLink, redis: RedisCommands): RestoreTarget {
  const channels = redisChannels(redis);
  const operators = redisOperators(redis);

  /** Commands on one key keep their order. Retries while Redis is unavailable, so each command may run twice. */
  async function write(commands: Written[]): Promise<void> {
    await retried(async () => {
      const sent = await Promise.allSettled(
        commands.map(([key, ...command]) => redis.write(key, ...command)),
      );
      const failed = sent.find((one) => one.status === "rejected");
      if (failed) throw failed.reason;
    });
  }

  /** Only tokens whose user exists: a user who came while the backup was taken may not be in it. */
  async function putTokens(tokens: BackupToken[]): Promise<void> {
    const isThere = await Promise.all(
      tokens.map(async ({ slug, userId }) => {
        const { user } = userKeys(slug, userId);
        return (await redis.read(user, "EXISTS", user)) === 1;
      }),
    );
    await write(tokens.filter((_, i) => isThere[i]).flatMap(tokenCommands));
  }

  async function uncover(key: string): Promise<void> {
    const aside = asideOf(key);
    if ((await redis.read(aside, "EXISTS", aside)) === 1) await redis.write(aside, "RENAME", aside, key);
  }

  async function uncoverHolds(bucket: string, holder: string): Promise<void> {
    const [own, holders] = [ownKey(bucket, holder), holdersKey(bucket)];
    if ((await redis.read(own, "EXISTS", asideOf(own))) === 0) return;
    // The holder is listed first, as a commit does it.
    await redis.write(holders, "SADD", holders, holder);
    await uncover(own);
  }

  return {
    kind: "redis",
    recordsAtOnce: RECORDS_AT_ONCE,
    format: () => redisFormat(redis),
    channels: channels.channels,

    async isEmpty() {
      for await (const keys of scanKeys(link)) {
        if (keys.some((key) => FILLED.has(partsOfKey(key)?.kind ?? ""))) return false;
      }
      return true;
    },

    restoring: () => redisRestoring(redis),

    async begin(restoring) {
      await checkFormat(redis);
      await redis.write(RESTORING, "SET", RESTORING, JSON.stringify(restoring));
      // The orders of restored records are filled like those of an earlier version (fill-orders.ts).
      await redis.write(globalKeys.filled, "DEL", globalKeys.filled);
      for (const { slug } of restoring.channels) {
        await redis.write(channelKey(slug), "DEL", channelKey(slug));
        const keys = { set: globalKeys.channels, changes: globalKeys.changes };
        await redis.call("change_set", keys, { command: "SREM", member: slug, always: "1" });
      }
    },

    async put(records, restoring) {
      await write(records.flatMap(commandsOf));
      await putTokens(records.filter((record) => record.type === "token"));
      await redis.write(RESTORING, "SET", RESTORING, JSON.stringify(restoring));
    },

    async finish({ channels: opened, addresses, operators: added, holders }) {
      for (const operator of added) {
        // A start may have made its own `local` meanwhile.
        await operators.removeOperator(operator.name);
        await operators.addOperator(operator);
      }
      for (const address of addresses) await channels.blockIp(address);
      for (const channel of opened) await channels.putChannel(channel);
      await Promise.all(allBuckets.map((bucket) => uncover(dueKey(bucket))));
      for (const holder of holders) {
        await Promise.all(allBuckets.map((bucket) => uncoverHolds(bucket, holder)));
        // As if it had retired: the others find it silent at their next beat, and take over its threads.
        const { instances } = globalKeys;
        await redis.write(instances, "ZADD", instances, "NX", "0", holder);
      }
      await redis.write(RESTORING, "DEL", RESTORING);
    },
  };
}

function commandsOf(record: BackupRecord): Written[] {
  switch (record.type) {
    case "names": {
      const { names } = userKeys(record.slug, record.userId);
      const entries = record.names.flatMap(({ threadId, uid, createdAtMs }) => [
        threadId,
        `${uid} ${createdAtMs}`,
      ]);
      const owners = ownersKey(record.slug);
      const owned = record.names.flatMap(({ threadId, uid }) => [uid, `${record.userId} ${threadId}`]);
      return [...onHash(names, entries), ...onHash(owners, owned)];
    }
    case "audit":
      return [auditCommand(record)];
    case "stats":
      return statsCommands(record).map((command) => [statsKey(record.slug, record.day), ...command]);
    case "user":
      return userCommands(record);
    case "piece":
      return listCommands(record);
    case "thread":
      return [...listCommands(record), ...threadCommands(record)];
    // Channels, addresses and operators are written last, tokens after their users.
    case "channel":
    case "address":
    case "operator":
    case "token":
    case "moved":
      return [];
  }
}

function auditCommand({ nth, entry }: BackupAudit): Written {
  const { audit } = globalKeys;
  const score = String(entry.atMs * 1000 + Math.min(nth, 999));
  return [audit, "ZADD", audit, score, `${score} ${auditText(entry)}`];
}

function userCommands(record: BackupUser): Written[] {
  const { slug, user, createdAtMs, nth, spent, revocations, contentKeys = {} } = record;
  const { userId, externalId, displayName, blocked, whitelisted } = user;
  const attributes = attributesText(user.attributes);
  const keys = userKeys(slug, userId);
  const external = externalId === null ? [] : ["external", externalId];
  const name = displayName === null ? [] : ["name", displayName];
  const told = attributes === null ? [] : ["attributes", attributes];
  const flags = ["blocked", flag(blocked), "whitelisted", flag(whitelisted)];
  const ended = revocations === undefined ? [] : ["revocations", String(revocations)];
  const users = usersKey(slug);
  const place = String(createdAtMs * 1000 + nth);
  const blockedUsers = blockedUsersKey(slug);
  const days = spent.flatMap(({ day, tokens }) => [day, String(tokens)]);
  const commands: Written[] = [
    [users, "ZADD", users, place, userId],
    ...(blocked ? [[blockedUsers, "ZADD", blockedUsers, place, userId] satisfies Written] : []),
    ...onHash(keys.days, days),
    ...onHash(keys.user, [
      "id",
      userId,
      ...external,
      ...name,
      ...told,
      ...flags,
      ...ended,
      ...contentKeyFields(contentKeys),
    ]),
  ];
  // So that a start requires the keys of CONTENT_KEYS that wrap these.
  for (const wrapped of Object.values(contentKeys)) {
    const { wrappers } = globalKeys;
    commands.push([wrappers, "HSETNX", wrappers, keyIdOf(wrapped) ?? "", ""]);
  }
  if (externalId === null) return commands;
  const leads = externalIdKey(slug, externalId);
  return [...commands, [leads, "SET", leads, userId]];
}

function tokenCommands(token: BackupToken): Written[] {
  const { slug, tokenHash, userId, snapshot, expiresAtMs, revocations, endsAtMs, renamed = [] } = token;
  const key = tokenKey(slug, tokenHash);
  const { user } = userKeys(slug, userId);
  const more = [
    ...(revocations === undefined ? [] : ["revocations", String(revocations)]),
    ...(endsAtMs === undefined ? [] : ["ends", String(endsAtMs)]),
    ...renamed.flatMap(({ said, stored }) => [`${RENAMED}${said}`, stored]),
  ];
  return [
    [key, "HSET", key, "user", userId, "snapshot", snapshot, ...more],
    [key, "PEXPIREAT", key, String(expiresAtMs)],
    // The user exists: putTokens has checked it.
    [user, "HSET", user, tokenHash, ""],
  ];
}

/** Truncates each list to where these entries begin, so that a repeat adds nothing twice. */
function listCommands(piece: ThreadPiece | WholeThread): Written[] {
  const keys = threadKeys(piece.uid);
  const { messagesFrom, messages, runsFrom, runs, parts, claims } = piece;
  const partFields = parts.flatMap(({ runId, nth, text }) => [`${runId}:${nth}`, text]);
  const claimFields = claims.flatMap(({ clientMessageId, runId, textHash }) => [
    clientMessageId,
    `${runId}:${textHash}`,
  ]);
  const begin: Written[] = piece.first ? [[keys.header, "DEL", ...Object.values(keys)]] : [];
  return [
    ...begin,
    ...onList(keys.messages, messagesFrom, messages.map(messageEntry)),
    ...onList(
      keys.runOrder,
      runsFrom,
      runs.map(({ runId }) => runId),
    ),
    ...onHash(
      keys.runs,
      runs.flatMap((run) => [run.runId, summaryOf(run)]),
    ),
    ...onHash(keys.parts, partFields),
    ...onHash(keys.messageIds, claimFields),
  ];
}

/** The header last: without it there is no thread. */
function threadCommands(thread: WholeThread): Written[] {
  const { uid, slug, createdAtMs, rev, fence, state, snapshot, catalog, run, waiting, dueAtMs, told } =
    thread;
  const keys = threadKeys(uid);
  const bucket = bucketOf(uid);
  const commands: Written[] = onList(keys.queue, 0, waiting.map(waitingEntry));
  for (const { nth, endpoint, text } of told?.waiting ?? []) {
    const unqueued = unqueuedKey(bucket);
    commands.push(
      [keys.outbox, "HSET", keys.outbox, `${nth} ${endpoint}`, text],
      [unqueued, "ZADD", unqueued, "0", `${slug} ${uid} ${nth} ${endpoint}`],
    );
  }
  if (dueAtMs !== null) {
    const due = asideOf(dueKey(bucket));
    commands.push([due, "ZADD", due, String(dueAtMs), uid]);
  }
  if (fence !== null) {
    const own = asideOf(ownKey(bucket, holderOf(fence)));
    commands.push([own, "HSET", own, uid, fence]);
  }
  const fields = ["slug", slug];
  if (catalog.length > 0) fields.push("catalog", JSON.stringify(catalogKind.stored(catalog)));
  if (createdAtMs !== null) fields.push("createdAtMs", String(createdAtMs));
  if (fence !== null) fields.push("fence", fence);
  // A thread without these has never had a commit.
  if (rev > 0) fields.push("rev", String(rev), "state", state);
  if (snapshot !== null) fields.push("snapshot", snapshot);
  if (told) fields.push("told", String(told.count));
  if (run !== null) fields.push("run", JSON.stringify(runKind.stored(run)));
  return [...commands, ...onHash(keys.header, fields)];
}

/**
 * The key's name until everything is written, so that no instance takes up a thread whose channel does not exist yet.
 */
function asideOf(key: string): string {
  return `new${key}`;
}

function onList(key: string, from: number, entries: string[]): Written[] {
  if (entries.length === 0) return [];
  // `LTRIM 0 -1` would keep the whole list.
  const cut: Written = from === 0 ? [key, "DEL", key] : [key, "LTRIM", key, "0", String(from - 1)];
  return [cut, [key, "RPUSH", key, ...entries]];
}

function onHash(key: string, fields: string[]): Written[] {
  return fields.length === 0 ? [] : [[key, "HSET", key, ...fields]];
}
