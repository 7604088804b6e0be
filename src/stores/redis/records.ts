import { attributesField } from "../../domain/attributes.ts";
import type { Attributes } from "../../domain/attributes.ts";
import { contentChars } from "../../domain/message.ts";
import type { Catalog, Message, UserMessage } from "../../domain/message.ts";
import type { RenamedThread } from "../../domain/renamed-threads.ts";
import type { ChannelState, User } from "../../domain/user.ts";
import { summaryFrom } from "../../store/threads.ts";
import type { RunSummary, ThreadRecord } from "../../store/threads.ts";
import type { ThreadEntry } from "../../store/users.ts";
import type { Place, Reader } from "../checks.ts";
import { isAccessMode } from "../channel-record.ts";
import {
  messageKind,
  readAttributes,
  readCatalog,
  readMessage,
  readRun,
  readState,
  summaryKind,
  waitingKind,
} from "../records.ts";
import type { Reply } from "./connection.ts";

/*
 * Converts records to the flat texts of functions/*.lua, and back. Whatever is read is checked: JSON by the records
 * of both stores, the format around it here; a reply of another shape throws at once.
 */

/** An optional text as an argument. */
export function optional(text: string | null): string {
  return text === null ? "" : `=${text}`;
}

export function flag(value: boolean): string {
  return value ? "1" : "0";
}

export function listOf(reply: Reply | undefined): Reply[] {
  if (!Array.isArray(reply)) throw misread("a list", reply);
  return reply;
}

export function textOf(reply: Reply | undefined): string {
  if (typeof reply !== "string") throw misread("a text", reply);
  return reply;
}

/** A number, or the text of one. */
export function numberOf(reply: Reply | undefined): number {
  const number = Number(reply ?? Number.NaN);
  if (Number.isNaN(number)) throw misread("a number", reply);
  return number;
}

export function textOrNull(reply: Reply | undefined): string | null {
  return reply === null || reply === undefined ? null : textOf(reply);
}

/** Fields and values of a hash, in no order. */
export function pairsOf(reply: Reply): [field: string, value: string][] {
  const flat = listOf(reply).map(textOf);
  return flat.flatMap((text, i) => (i % 2 === 0 ? [[text, flat[i + 1] ?? ""]] : []));
}

/**
 * Prefix of a token's field for a thread that has one name for the page and another for the account
 * (functions/users.lua).
 */
export const RENAMED = "as ";

/** From all fields of a token. */
export function renamedFrom(reply: Reply): RenamedThread[] {
  return pairsOf(reply)
    .filter(([field]) => field.startsWith(RENAMED))
    .map(([field, stored]) => ({ said: field.slice(RENAMED.length), stored }));
}

function misread(expected: string, reply: Reply | undefined): Error {
  return new Error(`Cannot read an answer of Redis: expected ${expected}, got ${typeof reply}`);
}

/** A record that is stored as JSON. Text that is not JSON is no record: the reader throws. */
export function parsed<T>(read: Reader<T>, reply: Reply | undefined, place: Place): T {
  return read(jsonValue(textOf(reply)), place);
}

/** undefined: the text is not JSON. */
export function jsonValue(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The texts that name a user in a step: as it was read, or as it will be. */
export function textsOf(user: User) {
  return {
    external: optional(user.externalId),
    name: optional(user.displayName),
    blocked: flag(user.blocked),
    whitelisted: flag(user.whitelisted),
    attributes: optional(attributesText(user.attributes)),
  };
}

/** As a field of the user's hash. Reading and writing it again gives the same text: steps compare it. */
export function attributesText(attributes: Attributes | undefined): string | null {
  return attributes === undefined ? null : JSON.stringify(attributes);
}

/** A user's fields in the order in which `userFrom` reads them. */
export const USER_FIELDS = ["id", "external", "name", "blocked", "whitelisted", "attributes"] as const;

export function userFrom(reply: Reply | undefined): User {
  const [id, externalId, displayName, blocked, whitelisted, attributes] = listOf(reply);
  const userId = textOf(id);
  return {
    userId,
    externalId: textOrNull(externalId),
    displayName: textOrNull(displayName),
    blocked: blocked === "1",
    whitelisted: whitelisted === "1",
    ...(attributes ? attributesField(parsed(readAttributes, attributes, userId)) : {}),
  };
}

export function channelStateFrom(reply: Reply | undefined): ChannelState {
  const [enabled, accessMode] = listOf(reply);
  if (!isAccessMode(accessMode)) throw misread("an access mode", accessMode);
  return { enabled: enabled === "1", accessMode };
}

/** A message in its list: its JSON, preceded by the length of its content, which load counts without parsing JSON. */
export function messageEntry(message: Message): string {
  return `${contentChars(message)}\n${JSON.stringify(messageKind.stored(message))}`;
}

export function messageFrom(entry: Reply, uid: string): Message {
  const text = textOf(entry);
  return parsed(readMessage, text.slice(text.indexOf("\n") + 1), uid);
}

/** A waiting message in its queue: its JSON, preceded by its run, which the functions compare. */
export function waitingEntry(message: UserMessage): string {
  return `${message.runId}\n${JSON.stringify(waitingKind.stored(message))}`;
}

/** The run of a waiting message, without parsing the message. */
export function runOfWaitingEntry(entry: string): string {
  return entry.slice(0, entry.indexOf("\n"));
}

export function summaryOf(run: RunSummary): string {
  return JSON.stringify(summaryKind.stored(summaryFrom(run)));
}

/** `UID CREATED_AT_MS`, the value of a thread's name. */
export function threadEntryFrom(name: string, text: string): ThreadEntry {
  const space = text.lastIndexOf(" ");
  return { threadId: name, uid: text.slice(0, space), createdAtMs: Number(text.slice(space + 1)) };
}

/** Only the uid. */
export function threadUidFrom(reply: Reply | undefined): string | null {
  const text = textOrNull(reply);
  return text === null ? null : text.slice(0, text.lastIndexOf(" "));
}

export function threadFrom(uid: string, reply: Reply): ThreadRecord {
  const [header, messageCount, waitingCount, tail] = listOf(reply);
  const [slug, rev, fence, state, snapshot, catalog, lastOp, run] = listOf(header);
  return {
    uid,
    slug: textOf(slug),
    // A thread that has only a catalog has no revision and no state yet.
    rev: numberOf(rev ?? "0"),
    lastOp: textOrNull(lastOp),
    fence: textOrNull(fence),
    state: readState(state ?? "idle", uid),
    snapshot: textOrNull(snapshot),
    catalog: catalogFrom(catalog, uid),
    run: run ? parsed(readRun, run, uid) : null,
    // The reply has the newest first.
    tail: listOf(tail)
      .map((entry) => messageFrom(entry, uid))
      .filter(({ aside }) => !aside)
      .reverse(),
    messageCount: numberOf(messageCount),
    waitingCount: numberOf(waitingCount),
  };
}

/** A thread's catalog; empty if it has none. */
export function catalogFrom(reply: Reply | undefined, uid: string): Catalog {
  return reply ? parsed(readCatalog, reply, uid) : [];
}
