import { hash } from "node:crypto";
import { bucketOf } from "../buckets.ts";

/**
 * The names of all keys in Redis. `{…}` is the hash tag: keys with the same tag are in one slot, and a step of the
 * store stays within one slot. Two planes: `{c:SLUG}` has users and their threads' names, `{t:BUCKET}` has threads by
 * uid, without users. `{g}` has what concerns the whole service.
 */
export const globalKeys = {
  /** The store's format (../format.ts). */
  format: "format:{g}",
  /** A restore that has not ended (../backup/). */
  restoring: "restoring:{g}",
  channels: "channels:{g}",
  ips: "ips:{g}",
  /** Records by name. */
  operators: "operators:{g}",
  /** Audit entries by time. */
  audit: "audit:{g}",
  /** The count of changes, and the publish/subscribe channel for notices of them. */
  changes: "changes:{g}",
  /** Processes by the stamp of their last heartbeat. */
  instances: "instances:{g}",
  /** The process that last searched for holders on no list (unlisted-holders.ts); expires. */
  listed: "listed:{g}",
  /** For each channel, the last user whose records of earlier versions are in its orders (fill-orders.ts). */
  filled: "filled:{g}",
  /** The process that fills them; expires. */
  filling: "filling:{g}",
  /** Deletions that are not finished yet, by time. */
  deleting: "deleting:{g}",
  /** The keys of CONTENT_KEYS that are in use, by id: for each a check text by which it is recognized. */
  wrappers: "wrappers:{g}",
  /** For each channel, the last user that retention has checked. */
  sweeping: "sweeping:{g}",
};

/** A key that exists only during a step, if at all (functions/moves.lua); the tag decides its slot. */
export function traceKey(tag: string): string {
  return `trace:{${tag}}`;
}

/** Publish/subscribe channel for messages to a process. */
export function messageChannel(processId: string): string {
  return `i:${processId}`;
}

/** Publish/subscribe channel for the hashes of rotated tokens. No process has this id; ACLs allow `i:*`. */
export const ROTATED_TOKENS = messageChannel("rotated");

export function channelTag(slug: string): string {
  return `{c:${slug}}`;
}

export function channelKey(slug: string): string {
  return `c:${channelTag(slug)}`;
}

/** The channel's users by creation. */
export function usersKey(slug: string): string {
  return `us:${channelTag(slug)}`;
}

/** The channel's threads by last activity: uid by Unix time in milliseconds (activity.ts). */
export function activityKey(slug: string): string {
  return `act:${channelTag(slug)}`;
}

/** The channel's threads by their last change of state without a message (activity.ts). */
export function changesKey(slug: string): string {
  return `chg:${channelTag(slug)}`;
}

/** The channel's threads in a state other than idle, by last activity (busy.ts). */
export function busyKey(slug: string, state: string): string {
  return `busy:${channelTag(slug)}:${state}`;
}

/** The owners of the channel's threads: uid → user id, and the user's name for the thread. */
export function ownersKey(slug: string): string {
  return `whose:${channelTag(slug)}`;
}

/** What was deleted in the channel, `t UID` and `u USER`, by time. */
export function goneKey(slug: string): string {
  return `gone:${channelTag(slug)}`;
}

/** The channel's blocked users by creation. */
export function blockedUsersKey(slug: string): string {
  return `bl:${channelTag(slug)}`;
}

/** The channel's statistics of a UTC day. */
export function statsKey(slug: string, day: string): string {
  return `st:${channelTag(slug)}:${day}`;
}

/** The users who sent a message that day: a HyperLogLog. */
export function speakersKey(slug: string, day: string): string {
  return `sv:${channelTag(slug)}:${day}`;
}

/**
 * The channel's webhooks: the texts of events without a thread, which of these are not queued yet, and the endpoints
 * that have, or had, a queue.
 */
export function channelOutboxKeys(slug: string): Record<"outbox" | "unqueued" | "endpoints", string> {
  const tag = channelTag(slug);
  return { outbox: `out:${tag}`, unqueued: `unq:${tag}`, endpoints: `we:${tag}` };
}

/**
 * An endpoint's data: its queue, the number of attempts of failed events, the process that delivers, and past
 * deliveries.
 */
export function endpointKeys(
  slug: string,
  endpoint: string,
): Record<"queue" | "state" | "lease" | "deliveries", string> {
  const end = `${channelTag(slug)}:${endpoint}`;
  return { queue: `wq:${end}`, state: `ws:${end}`, lease: `wl:${end}`, deliveries: `wd:${end}` };
}

export function tokenKey(slug: string, tokenHash: string): string {
  return `v:${channelTag(slug)}:${tokenHash}`;
}

/** A token's unreadable snapshot, set aside. */
export function asideTokenKey(slug: string, tokenHash: string): string {
  return `aside:${channelTag(slug)}:${tokenHash}`;
}

/** Hashed: an external id may be any text of any length. */
export function externalIdKey(slug: string, externalId: string): string {
  return `x:${channelTag(slug)}:${hash("sha256", externalId)}`;
}

/**
 * A user's data: the record, the names of its threads, and the tokens spent by day. `moved`: for a while after a
 * merge, the account that the user became.
 */
export function userKeys(slug: string, userId: string): Record<"user" | "names" | "days" | "moved", string> {
  const end = `${channelTag(slug)}:${userId}`;
  return { user: `u:${end}`, names: `n:${end}`, days: `d:${end}`, moved: `w:${end}` };
}

/** Tokens counted by day under a name; spread over the slots as threads are. */
export function countKey(name: string, day: string): string {
  return `y:${bucketTag(bucketOf(name))}:${hash("sha256", name)}:${day}`;
}

/** A thread's data. */
export function threadKeys(uid: string) {
  const end = `${bucketTag(bucketOf(uid))}:${uid}`;
  return {
    header: `h:${end}`,
    messages: `m:${end}`,
    queue: `q:${end}`,
    /** Run id → summary. */
    runs: `r:${end}`,
    /** Run ids, oldest first. */
    runOrder: `ro:${end}`,
    /** Texts of long replies, by run and number. */
    parts: `p:${end}`,
    /** clientMessageId → the run and the hash of the text that claimed it. */
    messageIds: `id:${end}`,
    /** Processes that watch it, by the time until which they do. */
    watchers: `watch:${end}`,
    /** Its events for webhooks, by number and endpoint. */
    outbox: `out:${end}`,
    /** Its unreadable parts, set aside, by part and place. */
    aside: `aside:${end}`,
  };
}

export const allBuckets: readonly string[] = Array.from({ length: 256 }, (_, i) =>
  i.toString(16).padStart(2, "0"),
);

function bucketTag(bucket: string): string {
  return `{t:${bucket}}`;
}

/** The pending page calls of a bucket: uid by deadline. */
export function dueKey(bucket: string): string {
  return `due:${bucketTag(bucket)}`;
}

/** The events of a bucket's threads that are not queued for webhooks yet, by the time of their commit. */
export function unqueuedKey(bucket: string): string {
  return `unq:${bucketTag(bucket)}`;
}

/** The threads of a bucket that a process holds: uid → fence. */
export function ownKey(bucket: string, processId: string): string {
  return `own:${bucketTag(bucket)}:${processId}`;
}

/** Processes that may hold a thread of a bucket. */
export function holdersKey(bucket: string): string {
  return `holders:${bucketTag(bucket)}`;
}

/** The stamp up to which a process that was found silent may claim no thread of a bucket. */
export function barKey(bucket: string, processId: string): string {
  return `bar:${bucketTag(bucket)}:${processId}`;
}
