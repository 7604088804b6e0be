import { hash } from "node:crypto";

/**
 * The name of every key and field of the store, once, for every engine.
 *
 * Two planes, and what concerns the whole service: the channel plane (`{c:SLUG}`) has users, their tokens and their names
 * for threads; the thread plane (`{t:BUCKET}`) has everything inside a thread, by its uid, without its user; `{g}` has the
 * rest. A step of the store stays within one slot.
 */
export type Plane = "g" | "c" | "t";
export type Holds = "hash" | "sorted set" | "sketch";

export interface Table {
  /** The key's name up to its hash tag. */
  name: string;
  plane: Plane;
  holds: Holds;
}

function global(name: string, holds: Holds) {
  return { name, plane: "g" as const, holds, key: `${name}:{g}` };
}

/** One key for each channel. */
function ofChannel(name: string, holds: Holds) {
  return { name, plane: "c" as const, holds, key: (slug: string) => `${name}:{c:${slug}}` };
}

/** One key for each of something in a channel. */
function inChannel(name: string, holds: Holds) {
  return {
    name,
    plane: "c" as const,
    holds,
    key: (slug: string, id: string) => `${name}:{c:${slug}}:${id}`,
  };
}

/** One key for each thread, by its uid; or for each of something else that is spread over the buckets in the same way. */
function ofThread(name: string, holds: Holds) {
  return {
    name,
    plane: "t" as const,
    holds,
    key: (uid: string) => `${name}:{t:${bucketOf(uid)}}:${uid}`,
  };
}

function ofBucket(name: string, holds: Holds) {
  return { name, plane: "t" as const, holds, key: (bucket: string) => `${name}:{t:${bucket}}` };
}

export const tables = {
  /** A restore that has not ended: `json`, see Restoring (backup/restoring.ts). */
  restoring: global("restoring", "hash"),
  /** Slug → nothing. */
  channels: global("channels", "hash"),
  /** Blocked address → nothing. */
  ips: global("ips", "hash"),
  /** Name → the operator's record. */
  operators: global("operators", "hash"),
  /** Entries by time (steps/operators.ts). */
  audit: global("audit", "sorted set"),
  /** `count`: of changes that every instance is told of; notices of them go by the same name. `audit`: of entries appended. */
  changes: global("changes", "hash"),
  /** Processes by the stamp of their last heartbeat. */
  instances: global("instances", "sorted set"),
  /** Deletions that are not finished, `KIND SLUG ID`, by time. */
  deleting: global("deleting", "sorted set"),
  /** Id of a key of CONTENT_KEYS → the text by which it is recognized. */
  wrappers: global("wrappers", "hash"),
  /** Slug → the last user that retention has checked. */
  sweeping: global("sweeping", "hash"),

  /** The channel: `json`; `enabled` and `mode`, which admission reads. */
  channel: ofChannel("c", "hash"),
  /** Its users by creation: a thousand places for each millisecond. */
  users: ofChannel("us", "sorted set"),
  /** Its blocked users, at the same places. */
  blocked: ofChannel("bl", "sorted set"),
  /** Its threads by their last activity. */
  activity: ofChannel("act", "sorted set"),
  /** Its threads by their last change of state without a message, for a day. */
  changed: ofChannel("chg", "sorted set"),
  /** Its threads in a state other than idle, by activity; one key for each state. */
  busy: inChannel("busy", "sorted set"),
  /** uid → `USER NAME`, or `deleted TIME`. Only says where to look: `names` decides whose a thread is. */
  owners: ofChannel("whose", "hash"),
  /** What was deleted, `t UID` and `u USER`, by time. */
  gone: ofChannel("gone", "sorted set"),
  /** Statistics of a UTC day: counts by name; `by PROCESS`: the last count of a process; `visitors`: restored ones; `op`. */
  stats: inChannel("st", "hash"),
  /** The users who sent messages that day. */
  speakers: inChannel("sv", "sketch"),
  /** A visitor token, by its SHA-256: TOKEN. */
  token: inChannel("v", "hash"),
  /** `snapshot`: a token's unreadable one, set aside. */
  asideToken: inChannel("aside", "hash"),
  /** `user`: the account, by the SHA-256 of its external id. */
  external: inChannel("x", "hash"),
  /** A user: USER. */
  user: inChannel("u", "hash"),
  /** Its tokens: SHA-256 → nothing. Some may have expired, or be another user's by now. */
  tokens: inChannel("tk", "hash"),
  /** Its keys for contents: `CHANNEL~USER` → the wrapped key, its own and those of users merged into it. */
  contentKeys: inChannel("ck", "hash"),
  /** What it has granted the service at MCP servers: the server's name → text. */
  grants: inChannel("og", "hash"),
  /** A sign-in to one that is under way, by the SHA-256 of its state: `user`, `text`; expires. */
  signIn: inChannel("oi", "hash"),
  /** Its names for threads: name → `UID CREATED_AT_MS`. This decides whose a thread is. */
  names: inChannel("n", "hash"),
  /** Model tokens used, by UTC day. */
  days: inChannel("d", "hash"),
  /** `into`: the account that a merged user became; for two days. */
  moved: inChannel("w", "hash"),
  /** Events of no thread: `ID ENDPOINT` → the body to send. */
  channelOutbox: ofChannel("out", "hash"),
  /** Those that are not queued yet, `SLUG - ID ENDPOINT`, by time. */
  channelUnqueued: ofChannel("unq", "sorted set"),
  /** Endpoints that have, or had, a queue → nothing. */
  endpoints: ofChannel("we", "hash"),
  /** An endpoint's queue: `UID NTH`, or `- ID`; new ones by number, failed ones by the time of the next try. */
  queue: inChannel("wq", "sorted set"),
  /** `a EVENT`: attempts; `off`: since when; `last`: the number of the last new event. */
  endpoint: inChannel("ws", "hash"),
  /** `process`: the one that delivers; expires. */
  lease: inChannel("wl", "hash"),
  /** The last deliveries, JSON by time. */
  deliveries: inChannel("wd", "sorted set"),
  /** Its documents: `s NAME` → a source; `w NAME` → a sync of it is wanted; `rev`: another one where pages have changed. */
  knowledge: ofChannel("kn", "hash"),
  /** `process`: the one that reads them; expires. */
  knowledgeLease: ofChannel("kl", "hash"),
  /** A source's pages: url → the page, without its text; … */
  knownPages: inChannel("kp", "hash"),
  /** … and what they say. */
  knownDocuments: inChannel("kd", "hash"),

  /** A thread: HEADER. */
  header: ofThread("h", "hash"),
  /** Its history: number → entry; the header says how many there are. */
  messages: ofThread("m", "hash"),
  /** Waiting messages: run → JSON; the header says which wait, in order. */
  waiting: ofThread("q", "hash"),
  /** Runs that have ended, in short form: run → JSON. */
  runs: ofThread("r", "hash"),
  /** … by the revision at which they ended; one that ended as another began, just before that one. */
  runOrder: ofThread("ro", "sorted set"),
  /** Parts of long replies, images, files, and the summary of the history: `RUN:NTH` → text. */
  parts: ofThread("p", "hash"),
  /** Files that no message names yet, as they will be among the parts; expires. */
  uploads: ofThread("up", "hash"),
  /** clientMessageId → `RUN:HASH` that claimed it. */
  claims: ofThread("id", "hash"),
  /** Processes that watch it, by the time until which they do; expires. */
  watchers: ofThread("watch", "sorted set"),
  /** Its events for webhooks: `NTH ENDPOINT` → the event, or `=ID`, a newline and the body to send. */
  outbox: ofThread("out", "hash"),
  /** Unreadable parts, set aside: `PART PLACE` → text. */
  aside: ofThread("aside", "hash"),
  /** Calls and waits that expire: uid by deadline. */
  due: ofBucket("due", "sorted set"),
  /** Of a restore that has not ended: nothing may expire, or be taken over, before its channel is there. uid → fence. */
  restoredHeld: ofBucket("newown", "hash"),
  restoredDue: ofBucket("newdue", "sorted set"),
  /** Processes that may hold a thread of the bucket → nothing. */
  holders: ofBucket("holders", "hash"),
  /** Events that are not queued yet, `SLUG UID NTH ENDPOINT`, by time. */
  unqueued: ofBucket("unq", "sorted set"),
  /** The threads of a bucket that a process holds: uid → fence. */
  held: {
    name: "own",
    plane: "t" as const,
    holds: "hash" as const,
    key: (bucket: string, processId: string) => `own:{t:${bucket}}:${processId}`,
  },
  /** Process → model tokens that it counted under a name on a day; expires. */
  counted: {
    name: "y",
    plane: "t" as const,
    holds: "hash" as const,
    key: (name: string, day: string) => `y:{t:${bucketOf(name)}}:${hash("sha256", name)}:${day}`,
  },
};

/** Tables whose keys may expire. An engine need not look for the end of any other key. */
export const EXPIRING: readonly Table[] = [
  tables.uploads,
  tables.token,
  tables.asideToken,
  tables.signIn,
  tables.moved,
  tables.stats,
  tables.speakers,
  tables.lease,
  tables.knowledgeLease,
  tables.watchers,
  tables.counted,
];

/** The fields of a thread's header. An empty one is as good as absent, so that one write changes all of them. */
export const HEADER = {
  slug: "slug",
  createdAtMs: "createdAtMs",
  /** Counts the commits. */
  rev: "rev",
  /** The `opId` of the last commit; of a deleted thread `deleted`. */
  op: "op",
  /** The answer to that commit had a waiting message: `1`. */
  opNext: "opNext",
  /** `PROCESS:RANDOM`; empty or absent: nobody holds it. Of a deleted thread `deleted:REV`. */
  fence: "fence",
  state: "state",
  /** The chart's snapshot. */
  snapshot: "snapshot",
  /** The run that began last. */
  run: "run",
  /** Its id. */
  runId: "runId",
  catalog: "catalog",
  /** Changes with the catalog: by it a claim knows that it has the newest one. */
  catalogId: "catalogId",
  /** How many messages the history has. */
  messages: "messages",
  /** Which of them are in another branch than the chosen one, as ranges (domain/threads/branches.ts); empty or absent: none. */
  hidden: "hidden",
  /** How many of them a summary covers, which is among the parts; empty or absent: there is none. */
  summarized: "summarized",
  /** Runs of waiting messages, in order, separated by spaces; empty or absent: none waits. */
  waiting: "waiting",
  /** When the pending call or wait expires; empty or absent: never. */
  dueAtMs: "dueAtMs",
  /** How many events webhooks were told of. */
  told: "told",
  /** Somebody may watch it until then, Unix ms, rounded up; empty or absent: nobody does. Set only on a header that is there. */
  watchedToMs: "watchedToMs",
  /** `OP`: the last rating. */
  rated: "rated",
  /** Of a deleted thread: the time, and the fence that held it. */
  deletedAtMs: "deletedAtMs",
  lastFence: "lastFence",
} as const;

/** The fields of a user. External id, displayName and attributes are absent if there are none. */
export const USER = {
  id: "id",
  external: "external",
  name: "name",
  blocked: "blocked",
  whitelisted: "whitelisted",
  /** JSON. */
  attributes: "attributes",
  /** How often its tokens were revoked; absent: never. */
  revocations: "revocations",
  /** Changes with each thread that comes or goes, and never back: a merge checks it. */
  threads: "threads",
} as const;

/** The fields of a token. `as NAME`: the account's name for the thread that the token's page calls NAME. */
export const TOKEN = {
  user: "user",
  snapshot: "snapshot",
  /** When it ends whatever its use; absent: use alone ends it. */
  ends: "ends",
  /** The user's revocations when it was bound; absent: 0. */
  revocations: "revocations",
  renamed: (name: string) => `as ${name}`,
} as const;

/** Users, and entries of the audit, have so many places in their order for each millisecond. */
export const PLACES_PER_MS = 1_000;

/** The external id as a key: it may be any text of any length. */
export function externalId(text: string): string {
  return hash("sha256", text);
}

/** The bucket of a thread, `00` to `ff`: spreads threads over slots evenly. */
export function bucketOf(uid: string): string {
  // A step names about ten keys of one thread.
  if (last.uid !== uid) last = { uid, bucket: hash("sha256", uid).slice(0, 2) };
  return last.bucket;
}

let last = { uid: "", bucket: hash("sha256", "").slice(0, 2) };

export const ALL_BUCKETS: readonly string[] = Array.from({ length: 256 }, (_, nth) =>
  nth.toString(16).padStart(2, "0"),
);

/** `KIND:{PLANE:TAG}` and, for most kinds, an id. */
const KEY = /^(?<name>\w+):\{(?<plane>[ctg]):?(?<tag>[^}]*)\}(?::(?<id>.*))?$/su;

/** The parts of a key's name; null: not one of ours. */
export function partsOfKey(key: string): { name: string; plane: Plane; tag: string; id: string } | null {
  const groups = KEY.exec(key)?.groups;
  const plane = groups?.["plane"];
  if (plane !== "c" && plane !== "t" && plane !== "g") return null;
  return { name: groups?.["name"] ?? "", plane, tag: groups?.["tag"] ?? "", id: groups?.["id"] ?? "" };
}
