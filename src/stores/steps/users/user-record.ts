import { attributesField } from "../../../domain/people/attributes.ts";
import type { ChannelState, User } from "../../../domain/people/user.ts";
import type { ThreadEntry } from "../../../store/users.ts";
import { isAccessMode } from "../../records/channel-record.ts";
import { readerOf } from "../../checks.ts";
import { slotOf } from "../../engine.ts";
import type { Pair, Write } from "../../engine.ts";
import { readAttributes } from "../../records/records.ts";
import { tables, USER } from "../../tables.ts";

/** The fields of a record, in an order that reader and writer know. */
type Fields = readonly (string | null)[];

const readAccessMode = readerOf("access mode", isAccessMode);

/** In the order in which `userFrom` reads them. */
export const USER_FIELDS = [
  USER.id,
  USER.external,
  USER.name,
  USER.blocked,
  USER.whitelisted,
  USER.attributes,
] as const;

/** In the order in which `channelStateFrom` reads them. */
export const CHANNEL_FIELDS = ["enabled", "mode"];

/** The slot of a channel, its users and their tokens. */
export function slotOfChannel(slug: string): string {
  return slotOf(tables.channel.key(slug));
}

/** From fields that begin with USER_FIELDS. Null: there is no such user. */
export function userFrom([id, external, name, blocked, whitelisted, attributes]: Fields): User | null {
  if (typeof id !== "string") return null;
  const user: User = {
    userId: id,
    externalId: external ?? null,
    displayName: name ?? null,
    blocked: blocked === "1",
    whitelisted: whitelisted === "1",
  };
  return attributes ? { ...user, ...attributesField(readAttributes(jsonOf(attributes), id)) } : user;
}

/** The texts of USER_FIELDS, in their order; null: the field is absent. */
export function userTexts({ userId, externalId, displayName, ...user }: User): (string | null)[] {
  const attributes = user.attributes ? JSON.stringify(user.attributes) : null;
  return [userId, externalId, displayName, flag(user.blocked), flag(user.whitelisted), attributes];
}

/** Reads whether there is such a user. */
export function idRead(slug: string, userId: string) {
  return { read: "fields", key: tables.user.key(slug, userId), fields: [USER.id] } as const;
}

/** Writes what differs from the stored user, and further fields; null: there is no such user yet. */
export function userWrites(
  key: string,
  stored: User | null,
  user: User,
  further: readonly Pair[] = [],
): Write[] {
  const was = stored ? userTexts(stored) : [];
  const texts = userTexts(user);
  const fields = [...further];
  const gone: string[] = [];
  for (const [nth, field] of USER_FIELDS.entries()) {
    const text = texts[nth] ?? null;
    if (text === (was[nth] ?? null)) continue;
    if (text === null) gone.push(field);
    else fields.push([field, text]);
  }
  const writes: Write[] = fields.length > 0 ? [{ write: "set", key, fields }] : [];
  return gone.length > 0 ? [...writes, { write: "remove", key, fields: gone }] : writes;
}

/** Drops a user with what belongs to it alone; the record comes last: while it is there, the user is. */
export function userDrops(slug: string, userId: string): Write[] {
  const { names, days, contentKeys, grants, tokens, user } = tables;
  return [names, days, contentKeys, grants, tokens, user].map((table) => ({
    write: "drop",
    key: table.key(slug, userId),
  }));
}

export function flag(value: boolean): string {
  return value ? "1" : "0";
}

/** Null: there is no such channel. */
export function channelStateFrom([enabled, mode]: Fields, slug: string): ChannelState | null {
  if (typeof enabled !== "string") return null;
  return { enabled: enabled === "1", accessMode: readAccessMode(mode, slug) };
}

/** A user's name for a thread, whose value is `UID CREATED_AT_MS`. */
export function threadEntryFrom(name: string, text: string): ThreadEntry {
  const space = text.lastIndexOf(" ");
  return { threadId: name, uid: text.slice(0, space), createdAtMs: Number(text.slice(space + 1)) };
}

/** The uid alone. */
export function uidFrom(text: string): string {
  return text.slice(0, text.lastIndexOf(" "));
}

/** undefined: the text is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
