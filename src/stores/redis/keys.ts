import { hash } from "node:crypto";
import { bucketOf } from "../buckets.ts";

/**
 * The names of everything in Redis. `{…}` is the hash tag: keys with one tag are in one slot, and a step of the store
 * stays within one slot. Two planes: `{c:SLUG}` knows users and whose a thread is, `{t:BUCKET}` knows threads by uid
 * and no user; `{g}` is what every instance keeps in memory.
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
  /** Its entries by time. */
  audit: "audit:{g}",
  /** The count of changes, and the publish/subscribe channel of their notice. */
  changes: "changes:{g}",
  /** Processes by the stamp of their last heartbeat. */
  instances: "instances:{g}",
  /** Who looked last for holders that are on no list; expires. */
  listed: "listed:{g}",
  /** By channel: up to which user its orders are filled with what earlier versions wrote. */
  filled: "filled:{g}",
  /** Who fills them; expires. */
  filling: "filling:{g}",
  /** Deletions that are not carried out yet, by time. */
  deleting: "deleting:{g}",
  /** Keys of CONTENT_KEYS that something was wrapped by: a text by which each is known again. */
  wrappers: "wrappers:{g}",
  /** By channel: up to which user retention has looked. */
  sweeping: "sweeping:{g}",
};

/** A key of a slot that nobody has, except within one step: see functions/moves.lua. */
export function traceKey(tag: string): string {
  return `trace:{${tag}}`;
}

/** Publish/subscribe channel of the messages to a process. */
export function messageChannel(processId: string): string {
  return `i:${processId}`;
}

/** Publish/subscribe channel of the hashes of tokens that were rotated. No process has this id; ACLs allow `i:*`. */
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

/** The channel's threads by their last activity: uid by Unix time in milliseconds (activity.ts). */
export function activityKey(slug: string): string {
  return `act:${channelTag(slug)}`;
}

/** The channel's threads by their last change of state without a message (activity.ts). */
export function changesKey(slug: string): string {
  return `chg:${channelTag(slug)}`;
}

/** The channel's threads in a state other than idle, by their last activity (busy.ts). */
export function busyKey(slug: string, state: string): string {
  return `busy:${channelTag(slug)}:${state}`;
}

/** Whose the channel's threads are: uid → user id, and the user's name for it. */
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

/** What happened in the channel on a UTC day. */
export function statsKey(slug: string, day: string): string {
  return `st:${channelTag(slug)}:${day}`;
}

/** Who spoke on that day: a HyperLogLog. */
export function speakersKey(slug: string, day: string): string {
  return `sv:${channelTag(slug)}:${day}`;
}

/**
 * What the channel's webhooks are told. Events of no thread: their texts, and those that are not queued yet. And which
 * endpoints have, or had, a queue.
 */
export function channelOutboxKeys(slug: string): Record<"outbox" | "unqueued" | "endpoints", string> {
  const tag = channelTag(slug);
  return { outbox: `out:${tag}`, unqueued: `unq:${tag}`, endpoints: `we:${tag}` };
}

/** What is kept of an endpoint: its queue, how often what failed was tried, who delivers, and what was delivered. */
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

/** A token's snapshot that could not be read. */
export function asideTokenKey(slug: string, tokenHash: string): string {
  return `aside:${channelTag(slug)}:${tokenHash}`;
}

/** Hashed: an external id is any text, and as long as its caller likes. */
export function externalIdKey(slug: string, externalId: string): string {
  return `x:${channelTag(slug)}:${hash("sha256", externalId)}`;
}

/**
 * What is kept of one user: the record, the names of the threads, and the tokens spent by day. `moved`: for a while after
 * a merge, whom it became.
 */
export function userKeys(slug: string, userId: string): Record<"user" | "names" | "days" | "moved", string> {
  const end = `${channelTag(slug)}:${userId}`;
  return { user: `u:${end}`, names: `n:${end}`, days: `d:${end}`, moved: `w:${end}` };
}

/** Tokens that are counted by day, under a name; spread over the slots as threads are. */
export function countKey(name: string, day: string): string {
  return `y:${bucketTag(bucketOf(name))}:${hash("sha256", name)}:${day}`;
}

/** What is kept of one thread. */
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
    /** clientMessageId → the run and text that it was claimed for. */
    messageIds: `id:${end}`,
    /** Processes that watch it, by the time until which they do. */
    watchers: `watch:${end}`,
    /** What webhooks are told of it, by number and endpoint. */
    outbox: `out:${end}`,
    /** What could not be read, by part and place. */
    aside: `aside:${end}`,
  };
}

export const allBuckets: readonly string[] = Array.from({ length: 256 }, (_, i) =>
  i.toString(16).padStart(2, "0"),
);

function bucketTag(bucket: string): string {
  return `{t:${bucket}}`;
}

/** A bucket's pending page calls: uid by deadline. */
export function dueKey(bucket: string): string {
  return `due:${bucketTag(bucket)}`;
}

/** What webhooks are to be told of a bucket's threads, and is not queued yet: by the time of its commit. */
export function unqueuedKey(bucket: string): string {
  return `unq:${bucketTag(bucket)}`;
}

/** A bucket's threads that a process holds: uid → fence. */
export function ownKey(bucket: string, processId: string): string {
  return `own:${bucketTag(bucket)}:${processId}`;
}

/** Processes that may hold a thread of a bucket. */
export function holdersKey(bucket: string): string {
  return `holders:${bucketTag(bucket)}`;
}

/** Up to which beat a process that was found silent claims nothing in a bucket. */
export function barKey(bucket: string, processId: string): string {
  return `bar:${bucketTag(bucket)}:${processId}`;
}
