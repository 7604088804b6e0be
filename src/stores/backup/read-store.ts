import type { Channel } from "../../domain/channels/channel.ts";
import type { Operator } from "../../domain/people/operator.ts";
import type { Deletion } from "../../store/deletions.ts";
import type { ThreadEntry } from "../../store/users.ts";
import { jsonValue } from "../records/json-value.ts";
import { operatorKind } from "../records/operator-records.ts";
import { readChannels } from "../read-channels.ts";
import { placedEntry } from "../steps/operators.ts";
import { dayStatsOf } from "../steps/stats.ts";
import { threadEntryFrom, USER_FIELDS, userFrom } from "../steps/users/user-record.ts";
import { partsOfKey, PLACES_PER_MS, tables, TOKEN, USER } from "../tables.ts";
import type { Plane } from "../tables.ts";
import { prefixOf } from "../walk.ts";
import type { Reader } from "../walk.ts";
import { chunks, rangePages } from "./pages.ts";
import type { BackupAudit, BackupStats, BackupToken, BackupUser } from "./records.ts";

/** What a backup has of a store beside its threads (read-thread.ts), in pages. */

const USERS_AT_ONCE = 64;
/** Names that are read together with their user. */
const MOST_NAMES = 50;
const KEYS_AT_ONCE = 200;
const RENAMED = TOKEN.renamed("");

/** By slug; throws the first UnreadableRecord. */
export async function channelsOf(reader: Reader): Promise<Channel[]> {
  const slugs = (await pairsOf(reader, tables.channels)).map(([slug]) => slug);
  const stored = await Promise.all(
    slugs.map(async (slug) => {
      const [[json = null]] = await reader.read([
        { read: "fields", key: tables.channel.key(slug), fields: ["json"] },
      ]);
      return json === null ? [] : [{ slug, value: jsonValue(json) }];
    }),
  );
  return readChannels(stored.flat());
}

export async function addressesOf(reader: Reader): Promise<string[]> {
  return (await pairsOf(reader, tables.ips)).map(([address]) => address);
}

export async function operatorsOf(reader: Reader): Promise<Operator[]> {
  const pairs = await pairsOf(reader, tables.operators);
  return pairs.map(([name, text]) => operatorKind.read(jsonValue(text), name));
}

/** By name. */
async function pairsOf(reader: Reader, { key }: { key: string }) {
  const [pairs] = await reader.read([{ read: "hash", key }]);
  return pairs.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

export async function* auditPages(reader: Reader): AsyncIterable<BackupAudit[]> {
  for await (const page of reader.memberPages(tables.audit.key)) {
    yield page.map((member) => {
      return { type: "audit", nth: member[1] % PLACES_PER_MS, entry: placedEntry(member).entry };
    });
  }
}

export function statsPages(reader: Reader): AsyncIterable<BackupStats[]> {
  return eachOf(reader, tables.stats, async (slug, day) => {
    const stats = await dayStatsOf(reader, slug, day);
    return stats && { type: "stats", slug, ...stats };
  });
}

/** Tokens that have not expired. */
export function tokenPages(reader: Reader): AsyncIterable<BackupToken[]> {
  return eachOf(reader, tables.token, (slug, tokenHash) => tokenOf(reader, slug, tokenHash));
}

/** Not part of a backup. */
export async function* deletionsOf(reader: Reader): AsyncIterable<Deletion> {
  for await (const keys of reader.keys(prefixOf(tables.gone))) {
    for (const key of keys) {
      const slug = partsOfKey(key)?.tag ?? "";
      for await (const page of reader.memberPages(key)) {
        for (const [member, atMs] of page) {
          const kind = member.startsWith("u ") ? "user" : "thread";
          yield { kind, slug, id: member.slice(2), atMs };
        }
      }
    }
  }
}

/** What each key of a table is of, by what its name has behind the slug. */
async function* eachOf<T>(
  reader: Reader,
  table: { name: string; plane: Plane },
  read: (slug: string, id: string) => Promise<T | null>,
): AsyncIterable<T[]> {
  for await (const keys of reader.keys(prefixOf(table))) {
    for (const some of chunks(keys, KEYS_AT_ONCE)) {
      const parts = some.map(partsOfKey).filter((part) => part !== null);
      const all = await Promise.all(parts.map(({ tag, id }) => read(tag, id)));
      yield all.filter((one) => one !== null);
    }
  }
}

/** `names`: null if they are too many to be read with the user. */
export interface UserRead {
  record: BackupUser;
  names: ThreadEntry[] | null;
}

/** A channel's users, oldest first, each as it is at one moment. */
export async function* userPages(
  reader: Reader,
  slug: string,
  which: "anonymous" | "accounts",
): AsyncIterable<UserRead[]> {
  for await (const members of rangePages(reader, tables.users.key(slug), { limit: USERS_AT_ONCE })) {
    const sizes = await reader.read(
      members.map(([userId]) => ({ read: "size" as const, key: tables.names.key(slug, userId) })),
    );
    const read = await Promise.all(
      members.map(([userId], nth) => userOf(reader, slug, userId, (sizes[nth] ?? 0) <= MOST_NAMES)),
    );
    yield read
      .filter((user) => user !== null)
      .filter(({ record }) => (record.user.externalId === null) === (which === "anonymous"));
  }
}

/** For a user with very many threads. */
export async function* namePages(reader: Reader, slug: string, userId: string): AsyncIterable<ThreadEntry[]> {
  for await (const page of reader.hashPages(tables.names.key(slug, userId))) {
    yield page.map(([name, text]) => threadEntryFrom(name, text));
  }
}

/** Null: there is no such user, or it was merged meanwhile. `withNames`: they are few. */
async function userOf(
  reader: Reader,
  slug: string,
  userId: string,
  withNames: boolean,
): Promise<UserRead | null> {
  const [fields, [place], days, contentKeys, names = null] = await reader.read([
    { read: "fields", key: tables.user.key(slug, userId), fields: [...USER_FIELDS, USER.revocations] },
    { read: "scores", key: tables.users.key(slug), members: [userId] },
    { read: "hash", key: tables.days.key(slug, userId) },
    { read: "hash", key: tables.contentKeys.key(slug, userId) },
    ...(withNames ? [{ read: "hash" as const, key: tables.names.key(slug, userId) }] : []),
  ]);
  const user = userFrom(fields);
  if (user === null) return null;
  const revocations = fields[USER_FIELDS.length];
  return {
    record: {
      type: "user",
      slug,
      user,
      createdAtMs: Math.floor((place ?? 0) / PLACES_PER_MS),
      nth: (place ?? 0) % PLACES_PER_MS,
      // A merge notes its sums under names with a space.
      spent: days
        .filter(([day]) => !day.includes(" "))
        .map(([day, tokens]) => ({ day, tokens: Number(tokens) })),
      ...(revocations ? { revocations: Number(revocations) } : {}),
      ...(contentKeys.length > 0 ? { contentKeys: Object.fromEntries(contentKeys) } : {}),
    },
    names: names && names.map(([name, text]) => threadEntryFrom(name, text)),
  };
}

/** Null: it has expired. */
async function tokenOf(reader: Reader, slug: string, tokenHash: string): Promise<BackupToken | null> {
  const key = tables.token.key(slug, tokenHash);
  const [fields, expiresAtMs] = await reader.read([
    { read: "hash", key },
    { read: "expiry", key },
  ]);
  const bound = new Map(fields);
  const [userId, snapshot] = [bound.get(TOKEN.user), bound.get(TOKEN.snapshot)];
  const [revocations, ends] = [bound.get(TOKEN.revocations), bound.get(TOKEN.ends)];
  const renamed = fields
    .filter(([field]) => field.startsWith(RENAMED))
    .map(([field, stored]) => ({ said: field.slice(RENAMED.length), stored }));
  if (!userId || snapshot === undefined || expiresAtMs === null) return null;
  return {
    type: "token",
    slug,
    tokenHash,
    userId,
    snapshot,
    expiresAtMs,
    ...(revocations ? { revocations: Number(revocations) } : {}),
    ...(ends ? { endsAtMs: Number(ends) } : {}),
    ...(renamed.length > 0 ? { renamed } : {}),
  };
}
