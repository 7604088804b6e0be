import { dayOf } from "../../domain/day.ts";
import type { RenamedThread } from "../../domain/renamed-threads.ts";
import type { User } from "../../domain/user.ts";
import { pageOf } from "../../store/page.ts";
import type { Page } from "../../store/page.ts";
import type { PlacedUser, ThreadEntry, UserPage } from "../../store/users.ts";
import type { Reader } from "../checks.ts";
import { defaulted, isNumber, isObject, isText, kindOf, listOf, mapOf, optional, shape } from "../checks.ts";
import { areRenamed, isUser, readNumber, readText } from "../records.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";
import { FILLED_ALL, FILLED_BUT_STATES, isFilled, threadOrders } from "./thread-orders.ts";
import {
  blockedKey,
  countKey,
  expiryKey,
  externalKey,
  movedKey,
  nameKey,
  namesKey,
  orderKey,
  tokenKey,
  userKey,
  userTokenKey,
} from "./keys.ts";

/** The records of the channel plane: users, their external ids, tokens and thread names. Within a read or a change. */
export interface UserRecord {
  user: User;
  createdAtMs: number;
  /** Tokens used per UTC day, only for the newest days. */
  spent: { day: string; tokens: number }[];
  /** How often all tokens were revoked; absent: never. */
  revocations?: number;
  /** Wrapped keys by their ids (store/content-keys.ts); absent: none. */
  contentKeys?: Record<string, string>;
}

/** A user's name for a thread, as it is stored: `name` is the entry's `threadId`. */
export interface ThreadNameRecord {
  uid: string;
  name: string;
  createdAtMs: number;
}

export interface TokenRecord {
  userId: string;
  snapshot: string;
  /** Its user's count when it was bound; the token is valid while the two are equal. */
  revocations?: number;
  /** The time when it ends, even if it is used. */
  endsAtMs?: number;
  /** Absent: none. */
  renamed?: RenamedThread[];
}

export const userKind = kindOf(
  "user",
  shape<UserRecord>({
    user: isUser,
    createdAtMs: isNumber,
    spent: defaulted(listOf(shape<UserRecord["spent"][number]>({ day: isText, tokens: isNumber })), () => []),
    revocations: optional(isNumber),
    contentKeys: optional(mapOf(isText)),
  }),
);
export const threadNameKind = kindOf(
  "thread name",
  shape<ThreadNameRecord>({ uid: isText, name: isText, createdAtMs: isNumber }),
);
export const tokenKind = kindOf(
  "visitor token",
  shape<TokenRecord>({
    userId: isText,
    snapshot: isText,
    revocations: optional(isNumber),
    endsAtMs: optional(isNumber),
    renamed: optional(areRenamed),
  }),
);

/** A run may be counted just after midnight, by a clock that is still before it. */
const SPENT_DAYS = 2;

/** The account that an anonymous user became in a merge: for runs that began before it. */
interface MovedRecord {
  into: string;
  atMs: number;
}

export const movedKind = kindOf("merged user", shape<MovedRecord>({ into: isText, atMs: isNumber }));

/** How long a run may still spend after a merge of its user, and how long a day's counts are kept. */
export const SPENDING_KEPT_MS = 2 * 86_400_000;

/** How many old records are checked with each new one: more than one, so that the walk is faster than the growth. */
const SWEEP_STEPS = 4;

export type UserRecords = ReturnType<typeof userRecords>;

export function userRecords(db: EmbeddedDb) {
  const orders = threadOrders(db);

  let sweptUpTo: Key = ["e"];
  let movedSweptUpTo: Key = ["w"];

  /** A few records of a kind from a place on, and the next place; after the last one the walk starts again. */
  function someOf<T>(kind: string, from: Key, read: Reader<T>): { met: { key: Key; value: T }[]; next: Key } {
    const met = [...db.range([kind], read, { from, limit: SWEEP_STEPS })];
    const last = met.at(-1);
    return { met, next: last === undefined ? [kind] : [...last.key, 0] };
  }

  const userTokens = (slug: string, userId: string) => [
    ...db.range(["vt", keyPart(slug), keyPart(userId)], readText),
  ];

  function removeTokenAt(key: Key): void {
    db.remove(key);
    db.remove(["e", ...key.slice(1)]);
    db.remove(["aside", ...key]);
  }

  function listBlocked(slug: string, record: UserRecord): void {
    const key = blockedKey(slug, record);
    if (record.user.blocked) db.put(key, record.user.userId);
    else if (db.has(key)) db.remove(key);
  }

  return {
    expiryKey,

    user: (slug: string, userId: string) => db.get(userKey(slug, userId), userKind.read),

    account(slug: string, externalId: string): UserRecord | undefined {
      const userId = db.get(externalKey(slug, externalId), readText);
      return userId === undefined ? undefined : db.get(userKey(slug, userId), userKind.read);
    },

    /** Writes the user, and what refers to it. */
    putUser(slug: string, record: UserRecord): void {
      const { userId, externalId } = record.user;
      db.put(userKey(slug, userId), userKind.stored(record));
      db.put(orderKey(slug, record), userId);
      if (externalId !== null) db.put(externalKey(slug, externalId), userId);
      listBlocked(slug, record);
    },

    /** `check`: a text by which a key of CONTENT_KEYS is recognized. Does nothing if it is noted already. */
    noteWrapper(id: string, check: string): void {
      const key: Key = ["wrapper", keyPart(id)];
      if (!db.has(key)) db.put(key, check);
    },

    removeUser(slug: string, record: UserRecord): void {
      for (const { key } of userTokens(slug, record.user.userId)) db.remove(key);
      db.remove(userKey(slug, record.user.userId));
      db.remove(orderKey(slug, record));
      db.remove(blockedKey(slug, record));
    },

    /** Removes the user with everything that refers to it; its tokens, as far as they are listed (fill-tokens.ts). */
    removeAll(slug: string, record: UserRecord): void {
      const { userId, externalId } = record.user;
      for (const { key, value: hash } of userTokens(slug, userId)) {
        const token: unknown = db.get(tokenKey(slug, hash), (value) => value);
        if (isObject(token) && token["userId"] === userId) removeTokenAt(tokenKey(slug, hash));
        db.remove(key);
      }
      db.remove(userKey(slug, userId));
      db.remove(orderKey(slug, record));
      db.remove(blockedKey(slug, record));
      db.remove(movedKey(slug, userId));
      if (externalId !== null) db.remove(externalKey(slug, externalId));
      const names = [...db.range(namesKey(slug, userId), () => null)];
      for (const { key } of names) db.remove(key);
    },

    /** The channel's tokens, from a key on. */
    tokens: (slug: string, from: Key | null, limit: number) => [
      ...db.range(["v", keyPart(slug)], (value) => value, { ...(from === null ? {} : { from }), limit }),
    ],

    removeTokenAt,

    listBlocked,

    userIds: (slug: string): string[] =>
      [...db.range(["us", keyPart(slug)], readText)].map(({ value }) => value),

    usersPage(slug: string, { limit, after, order, blocked = false }: UserPage): Page<PlacedUser> {
      const [, createdAtMs, last] = /^(\d{1,15})-(.+)$/s.exec(after ?? "") ?? [];
      if (after !== null && last === undefined) return { items: [], next: null };
      const users: Key = [
        blocked && isFilled(db, [FILLED_ALL, FILLED_BUT_STATES]) ? "bl" : "us",
        keyPart(slug),
      ];
      const from = last === undefined ? {} : { from: [...users, Number(createdAtMs), last] };
      const reverse = order === "newest first";
      // The range includes the place itself, if its user still exists.
      const found = [...db.range(users, readText, { ...from, reverse, limit: limit + 2 })]
        .map(({ key, value }) => ({ place: key.slice(2).join("-"), userId: value }))
        .filter(({ place }) => place !== after);
      const { items, next } = pageOf(found, limit);
      const read = items.flatMap(({ place, userId }) => {
        const record = db.get(userKey(slug, userId), userKind.read);
        return record === undefined ? [] : [{ user: record.user, createdAtMs: record.createdAtMs, place }];
      });
      return { items: read, next };
    },

    spentOn: (record: UserRecord, day: string): number =>
      record.spent.find((spent) => spent.day === day)?.tokens ?? 0,

    spend(record: UserRecord, day: string, tokens: number): UserRecord {
      const others = record.spent.filter((spent) => spent.day !== day);
      const before = record.spent.find((spent) => spent.day === day)?.tokens ?? 0;
      const spent = [...others, { day, tokens: before + tokens }].toSorted((a, b) =>
        a.day < b.day ? -1 : 1,
      );
      return { ...record, spent: spent.slice(-SPENT_DAYS) };
    },

    /** The user, or the account that it became. */
    spender(slug: string, userId: string): UserRecord | undefined {
      const record = db.get(userKey(slug, userId), userKind.read);
      if (record !== undefined) return record;
      const moved = db.get(movedKey(slug, userId), movedKind.read);
      return moved && db.get(userKey(slug, moved.into), userKind.read);
    },

    /** Also removes a few old ones: more than one, so that the walk is faster than the growth. */
    putMoved(slug: string, userId: string, moved: MovedRecord): void {
      db.put(movedKey(slug, userId), movedKind.stored(moved));
      const { met, next } = someOf("w", movedSweptUpTo, movedKind.read);
      for (const { key, value } of met) if (value.atMs < moved.atMs - SPENDING_KEPT_MS) db.remove(key);
      movedSweptUpTo = next;
    },

    counted: (day: string, name: string) => db.get(countKey(day, name), readNumber) ?? 0,

    /** Also removes some counts of past days, oldest first. */
    putCounted(day: string, name: string, tokens: number, nowMs: number): void {
      db.put(countKey(day, name), tokens);
      const oldest = dayOf(nowMs - SPENDING_KEPT_MS);
      for (const { key } of someOf("y", ["y"], readNumber).met) {
        if (String(key[1]) < oldest) db.remove(key);
      }
    },

    thread: (slug: string, userId: string, name: string) =>
      db.get(nameKey(slug, userId, name), threadNameKind.read),

    putThread(slug: string, userId: string, { uid, threadId, createdAtMs }: ThreadEntry) {
      const record: ThreadNameRecord = { uid, name: threadId, createdAtMs };
      db.put(nameKey(slug, userId, threadId), threadNameKind.stored(record));
      orders.putOwner(slug, uid, { userId, name: threadId });
      if ((orders.activity(slug, uid) ?? -1) < createdAtMs) orders.putActivity(slug, uid, createdAtMs);
    },

    /** True if it has a tombstone (thread-records.ts). */
    isDeletedThread: (uid: string) => db.has(["gone", keyPart(uid)]),

    removeThread: (slug: string, userId: string, name: string) => db.remove(nameKey(slug, userId, name)),

    /** Oldest first. */
    threads: (slug: string, userId: string): ThreadEntry[] =>
      [...db.range(namesKey(slug, userId), threadNameKind.read)]
        .map(({ value }) => ({ uid: value.uid, threadId: value.name, createdAtMs: value.createdAtMs }))
        .toSorted((a, b) => a.createdAtMs - b.createdAtMs),

    /** The token, if it is valid. */
    token(slug: string, tokenHash: string, nowMs: number): TokenRecord | undefined {
      const expiresAtMs = db.get(expiryKey(slug, tokenHash), readNumber) ?? 0;
      const token = nowMs < expiresAtMs ? db.get(tokenKey(slug, tokenHash), tokenKind.read) : undefined;
      const user = token && db.get(userKey(slug, token.userId), userKind.read);
      return (user?.revocations ?? 0) === (token?.revocations ?? 0) ? token : undefined;
    },

    removeToken(slug: string, tokenHash: string, { userId }: Pick<TokenRecord, "userId">): void {
      removeTokenAt(tokenKey(slug, tokenHash));
      db.remove(userTokenKey(slug, userId, tokenHash));
    },

    putToken(slug: string, tokenHash: string, token: TokenRecord): void {
      db.put(tokenKey(slug, tokenHash), tokenKind.stored(token));
      db.put(userTokenKey(slug, token.userId, tokenHash), tokenHash);
    },

    /** For a token of an earlier version. */
    noteToken: (slug: string, userId: string, tokenHash: string) =>
      db.put(userTokenKey(slug, userId, tokenHash), tokenHash),

    tokensOf: (slug: string, userId: string): string[] => userTokens(slug, userId).map(({ value }) => value),

    /** What is set aside of a token is removed with it. */
    setTokenAside(slug: string, tokenHash: string, token: TokenRecord, snapshot: string): void {
      db.put(["aside", ...tokenKey(slug, tokenHash)], token.snapshot);
      db.put(tokenKey(slug, tokenHash), tokenKind.stored({ ...token, snapshot }));
    },

    putExpiry: (slug: string, tokenHash: string, atMs: number) => db.put(expiryKey(slug, tokenHash), atMs),

    /** A few steps of an endless walk through all tokens, which removes the expired ones. */
    sweepTokens(nowMs: number): void {
      const { met, next } = someOf("e", sweptUpTo, readNumber);
      for (const { key, value: expiresAtMs } of met) {
        if (nowMs < expiresAtMs) continue;
        const [slug, hash] = [String(key[1]), String(key[2])];
        const ended: unknown = db.get(["v", ...key.slice(1)], (value) => value);
        if (isObject(ended)) db.remove(userTokenKey(slug, String(ended["userId"]), hash));
        db.remove(key);
        db.remove(["v", ...key.slice(1)]);
        db.remove(["aside", "v", ...key.slice(1)]);
      }
      sweptUpTo = next;
    },
  };
}
