import type { Channel } from "../../domain/channel.ts";
import type { Operator } from "../../domain/operator.ts";
import { STORE_FORMAT } from "../format.ts";
import { jsonValue } from "../json-value.ts";
import { operatorKind } from "../operator-records.ts";
import { readChannels } from "../read-channels.ts";
import { placedEntry } from "../steps/operators.ts";
import { dayStatsOf } from "../steps/stats.ts";
import { threadEntryFrom, USER_FIELDS, userFrom } from "../steps/users/user-record.ts";
import { partsOfKey, tables, TOKEN, USER } from "../tables.ts";
import type { Plane } from "../tables.ts";
import { prefixOf } from "../walk.ts";
import type { Reader } from "../walk.ts";
import { countsOf } from "./counts.ts";
import { chunks, rangePages } from "./pages.ts";
import { readThread } from "./read-thread.ts";
import type { BackupStats, BackupToken } from "./records.ts";
import type { BackupSource, UserRead } from "./source.ts";

const USERS_AT_ONCE = 64;
/** Names that are read together with their user. */
const MOST_NAMES = 50;
const KEYS_AT_ONCE = 200;
/** Of users and of the audit. */
const PLACES_PER_MS = 1_000;
const RENAMED = TOKEN.renamed("");

/** A store, or a moment of it, as the source of a backup: each thread and user is read as it is at one moment. */
export function backupSource(
  reader: Reader,
  { kind, close }: { kind: BackupSource["kind"]; close?: () => void },
): BackupSource {
  /** What each key with this prefix is of, by what its name has behind the slug. */
  async function* eachOf<T>(
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

  return {
    kind,
    format: () => Promise.resolve(STORE_FORMAT),
    counts: () => countsOf(reader),
    channels: () => channelsOf(reader),
    blockedIps: async () => (await namesIn(reader, tables.ips.key)).sort(),

    async operators() {
      const [pairs] = await reader.read([{ read: "hash", key: tables.operators.key }]);
      return pairs
        .map(([name, text]): Operator => operatorKind.read(jsonValue(text), name))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async isEncrypted() {
      const [size] = await reader.read([{ read: "size", key: tables.wrappers.key }]);
      return size > 0;
    },

    async *audit() {
      for await (const page of reader.memberPages(tables.audit.key)) {
        yield page.map((member) => ({
          type: "audit",
          nth: member[1] % PLACES_PER_MS,
          entry: placedEntry(member).entry,
        }));
      }
    },

    stats: () =>
      eachOf(tables.stats, async (slug, day): Promise<BackupStats | null> => {
        const stats = await dayStatsOf(reader, slug, day);
        return stats && { type: "stats", slug, ...stats };
      }),

    async *users(slug, which) {
      for await (const members of rangePages(reader, tables.users.key(slug), { limit: USERS_AT_ONCE })) {
        const ids = members.map(([userId]) => userId);
        const sizes = await reader.read(
          ids.map((userId) => ({ read: "size" as const, key: tables.names.key(slug, userId) })),
        );
        const read = await Promise.all(
          ids.map((userId, nth) => userOf(reader, slug, userId, (sizes[nth] ?? 0) <= MOST_NAMES)),
        );
        yield read
          .filter((user) => user !== null)
          .filter(({ record }) => (record.user.externalId === null) === (which === "anonymous"));
      }
    },

    async *names(slug, userId) {
      for await (const page of reader.hashPages(tables.names.key(slug, userId))) {
        yield page.map(([name, text]) => threadEntryFrom(name, text));
      }
    },

    thread: (uid) => readThread(reader, uid),

    async *deletions() {
      for await (const keys of reader.keys(prefixOf(tables.gone))) {
        for (const key of keys) {
          const slug = partsOfKey(key)?.tag ?? "";
          for await (const page of reader.memberPages(key)) {
            yield page.map(([member, atMs]) => {
              const kind = member.startsWith("u ") ? ("user" as const) : ("thread" as const);
              return { kind, slug, id: member.slice(2), atMs };
            });
          }
        }
      }
    },

    tokens: () => eachOf(tables.token, (slug, tokenHash) => tokenOf(reader, slug, tokenHash)),

    close: async () => close?.(),
  };
}

async function namesIn(reader: Reader, key: string): Promise<string[]> {
  const [pairs] = await reader.read([{ read: "hash", key }]);
  return pairs.map(([name]) => name);
}

/** By slug; throws the first UnreadableRecord. */
export async function channelsOf(reader: Reader): Promise<Channel[]> {
  const slugs = (await namesIn(reader, tables.channels.key)).sort();
  const stored = await Promise.all(
    slugs.map(async (slug) => {
      const [[json = null]] = await reader.read([
        { read: "fields", key: tables.channel.key(slug), fields: ["json"] },
      ]);
      return json === null ? null : { slug, value: jsonValue(json) };
    }),
  );
  return readChannels(stored.filter((channel) => channel !== null));
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
