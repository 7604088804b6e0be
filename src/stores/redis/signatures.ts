/**
 * The functions of functions/*.lua: the names of their keys and arguments, in the order in which they are sent. Each
 * function begins by unpacking them under the same names (`ttlMs` here is `ttl_ms` there); a test compares the two.
 */
interface Signature {
  keys: readonly string[];
  args: readonly string[];
}

/** A user as it was read, or as it will be: external id, displayName and attributes are optional texts. */
function userArgs<Whose extends string>(whose: Whose) {
  return [
    `${whose}External`,
    `${whose}Name`,
    `${whose}Blocked`,
    `${whose}Whitelisted`,
    `${whose}Attributes`,
  ] as const;
}

/** Functions that write. */
export const changing = {
  raise_format: { keys: ["format"], args: ["ours"] },

  note_change: { keys: ["changes"], args: [] },
  replace_channel: { keys: ["channel"], args: ["before", "record", "enabled", "mode"] },
  change_set: { keys: ["set", "changes"], args: ["command", "member", "always"] },

  mint_visitor: {
    keys: ["token", "user", "users"],
    args: ["userId", "snapshot", "ttlMs", "atMs", "endsAtMs"],
  },
  rotate_token: { keys: ["token", "fresh", "user"], args: ["userId", "ttlMs", "endsAtMs"] },
  revoke_tokens: { keys: ["user"], args: [] },
  admit_visitor: { keys: ["token", "channel", "user", "names"], args: ["userId", "ttlMs", "threadName"] },
  admit_user: {
    keys: ["external", "channel", "users", "user", "names", "owners", "activity"],
    args: [
      "userId",
      "externalId",
      "displayName",
      "attributes",
      "newUserId",
      "threadName",
      "newUid",
      "otherUid",
      "creates",
      "atMs",
      "erased",
    ],
  },
  drop_silent_visitor: { keys: ["user", "names", "users", "days"], args: ["userId"] },
  add_thread: { keys: ["user", "names", "owners", "activity"], args: ["userId", "name", "uid", "atMs"] },
  /** The events for webhooks follow, here and in unlist_user. */
  unlist_thread: {
    keys: ["names", "owners", "activity", "changed", "gone", "outbox", "unqueued"],
    args: ["uid", "owner", "atMs", "slug"],
  },
  unlist_user: {
    keys: [
      "user",
      "names",
      "days",
      "moved",
      "users",
      "blocked",
      "external",
      "owners",
      "activity",
      "changed",
      "gone",
      "outbox",
      "unqueued",
    ],
    args: ["userId", "externalId", "atMs", "slug"],
  },
  erase_token: { keys: ["token", "aside"], args: ["userId"] },
  note_token: { keys: ["token", "user"], args: ["userId"] },
  is_token_valid: { keys: ["token", "user"], args: ["userId"] },
  spend_tokens: { keys: ["user", "days", "moved"], args: ["day", "tokens"] },
  count_tokens: { keys: ["count"], args: ["tokens", "keptMs"] },
  /** The events for webhooks follow. */
  promote: {
    keys: ["token", "external", "user", "outbox", "unqueued"],
    args: ["userId", "externalId", "snapshot", ...userArgs("was"), "slug", "atMs"],
  },
  add_content_key: { keys: ["user"], args: ["keyId", "wrapped"] },
  replace_content_key: { keys: ["user"], args: ["keyId", "was", "wrapped"] },
  mend_token: { keys: ["token", "aside"], args: ["unreadable", "snapshot", "keptMs"] },
  /** The events for webhooks follow. */
  merge: {
    keys: [
      "token",
      "users",
      "fromUser",
      "fromNames",
      "fromDays",
      "intoUser",
      "intoNames",
      "intoDays",
      "moved",
      "owners",
      "blocked",
      "outbox",
      "unqueued",
    ],
    args: [
      "from",
      "into",
      "snapshot",
      "movedKeptMs",
      ...userArgs("from"),
      ...userArgs("into"),
      ...userArgs("result"),
      "slug",
      "atMs",
    ],
  },
  flag_user: { keys: ["user", "users", "blockedUsers"], args: ["userId", "blocked", "whitelisted"] },
  rename_user: { keys: ["user"], args: ["displayName"] },

  change_operator: { keys: ["operators", "changes"], args: ["name", "before", "record"] },
  append_audit: { keys: ["audit"], args: ["entry", "atMs", "keptFromMs", "most"] },

  /** Names with numbers, and the users who sent messages, follow. */
  add_stats: { keys: ["stats", "visitors"], args: ["by", "nth", "keptMs", "count"] },

  /** The events for webhooks, then the messages, follow the named arguments. */
  commit: {
    keys: [
      "header",
      "messages",
      "queue",
      "runs",
      "runOrder",
      "due",
      "own",
      "taken",
      "bar",
      "holders",
      "messageIds",
      "watchers",
      "outbox",
      "unqueued",
    ],
    args: [
      "op",
      "fence",
      "holder",
      "stamp",
      "takesFrom",
      "revRead",
      "readOp",
      "uid",
      "slug",
      "atMs",
      "snapshot",
      "state",
      "run",
      "starts",
      "holds",
      "deadlineMs",
      "runId",
      "summary",
      "endedId",
      "endedSummary",
      "clientMessageId",
      "claim",
      "messagePlace",
      "messageCount",
      "tellCount",
      "entryCount",
    ],
  },
  erase_thread: {
    keys: [
      "header",
      "messages",
      "queue",
      "runs",
      "runOrder",
      "parts",
      "messageIds",
      "watchers",
      "aside",
      "due",
      "own",
      "outbox",
    ],
    args: ["uid", "fence", "atMs", "ifRev"],
  },
  keep_images: { keys: ["header", "parts"], args: ["name", "images"] },
  set_catalog: { keys: ["header"], args: ["slug", "catalog"] },
  keep_part: { keys: ["header", "parts"], args: ["fence", "name", "text"] },
  wait_in_queue: {
    keys: ["header", "queue", "runs", "messageIds"],
    args: ["runId", "entry", "max", "clientMessageId", "claim"],
  },

  /** The events for webhooks follow, as in a commit. */
  rate_message: {
    keys: ["header", "messages", "outbox", "unqueued"],
    args: ["op", "uid", "atMs", "place", "before", "after", "tellCount"],
  },
  watch_thread: { keys: ["watchers"], args: ["processId", "keptMs"] },

  seal_event: { keys: ["outbox"], args: ["field", "sealed"] },
  /** The events follow. */
  queue_events: { keys: ["queue", "endpoints"], args: ["endpoint"] },
  settle_event: {
    keys: ["queue", "state", "deliveries"],
    args: ["event", "again", "attempts", "deliveredAt", "delivery", "most"],
  },
  replay_events: { keys: ["queue"], args: ["most"] },
  lease_endpoint: { keys: ["lease"], args: ["processId", "leaseMs"] },
  release_endpoint: { keys: ["lease"], args: ["processId"] },

  beat: { keys: ["instances", "changes"], args: ["processId", "afterMs"] },
  /** The processes follow. */
  enter: { keys: ["instances"], args: [] },
  bar: { keys: ["own", "barKey", "holders"], args: ["processId", "stamp", "keptMs"] },
  forget: { keys: ["instances"], args: ["processId", "stamp"] },

  leave_trace: { keys: ["trace"], args: [] },

  /** A command on the target follows the named arguments. */
  mend: { keys: ["witness", "target"], args: ["test", "field", "value"] },
} as const satisfies Record<string, Signature>;

/** Functions that only read. */
export const reading = {
  read_content_keys: { keys: ["user"], args: [] },
  load_thread: { keys: ["header", "messages", "queue"], args: ["budget", "runs"] },
  read_event: { keys: ["header", "outbox"], args: ["nth", "field"] },
  read_page: { keys: ["messages"], args: ["limit", "place", "budget"] },
  spent_tokens: { keys: ["user", "days", "moved"], args: ["day"] },
  list_runs: { keys: ["runs", "runOrder"], args: ["limit"] },
  look_at_thread: { keys: ["header", "messages", "runOrder"], args: ["from", "most", "budget"] },
  glance_thread: { keys: ["header", "messages"], args: [] },
  select_threads: { keys: ["names", "activity"], args: ["fewest", "limit", "afterAt", "afterUid"] },

  export_thread: {
    keys: ["header", "messages", "queue", "runs", "runOrder", "parts", "messageIds", "due", "outbox"],
    args: ["uid", "most", "mostParts"],
  },
  export_user: { keys: ["user", "names", "days", "users"], args: ["userId", "most"] },
} as const satisfies Record<string, Signature>;

type Signatures = typeof changing & typeof reading;
export type StoreFunction = keyof typeof changing;
export type StoreReading = keyof typeof reading;

export type KeysOf<Name extends keyof Signatures> = Record<Signatures[Name]["keys"][number], string>;
export type ArgsOf<Name extends keyof Signatures> = Record<Signatures[Name]["args"][number], string>;
