import type { Message, RunRecord, UserMessage } from "../../domain/message.ts";
import type { ChannelState, User } from "../../domain/user.ts";
import type { RunSummary, ThreadRecord, ThreadState } from "../../store/threads.ts";
import type { ThreadEntry } from "../../store/users.ts";
import type { Reply } from "./connection.ts";

/*
 * Records to the flat texts of functions/*.lua, and back. What is read was written by this service, so its JSON is
 * taken at its word; what holds the words together is checked, and a reply of another shape is an error here and now.
 */

/** An optional text among the arguments. */
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

export function textOrNull(reply: Reply | undefined): string | null {
  return reply === null || reply === undefined ? null : textOf(reply);
}

/** Fields and values of a hash, in no order. */
export function pairsOf(reply: Reply): [field: string, value: string][] {
  const flat = listOf(reply).map(textOf);
  return flat.flatMap((text, i) => (i % 2 === 0 ? [[text, flat[i + 1] ?? ""]] : []));
}

function misread(expected: string, reply: Reply | undefined): Error {
  return new Error(`Cannot read an answer of Redis: expected ${expected}, got ${typeof reply}`);
}

/** JSON that this service has written. */
export function parsed<T>(text: string): T {
  return JSON.parse(text) as T;
}

/** The four texts by which a step names a user as it was read, or as it shall be. */
export function textsOf(user: User) {
  return {
    external: optional(user.externalId),
    name: optional(user.displayName),
    blocked: flag(user.blocked),
    whitelisted: flag(user.whitelisted),
  };
}

export function userFrom(reply: Reply | undefined): User {
  const [userId, externalId, displayName, blocked, whitelisted] = listOf(reply);
  return {
    userId: textOf(userId),
    externalId: textOrNull(externalId),
    displayName: textOrNull(displayName),
    blocked: blocked === "1",
    whitelisted: whitelisted === "1",
  };
}

export function channelStateFrom(reply: Reply | undefined): ChannelState {
  const [enabled, accessMode] = listOf(reply);
  return { enabled: enabled === "1", accessMode: accessMode === "whitelist" ? "whitelist" : "open" };
}

/** A message in its list: before the JSON the length of its content, which load counts without reading JSON. */
export function messageEntry(message: Message): string {
  const chars = message.content.length + (message.kept?.chars ?? 0);
  return `${chars}\n${JSON.stringify(message)}`;
}

export function messageFrom(entry: Reply): Message {
  const text = textOf(entry);
  return parsed(text.slice(text.indexOf("\n") + 1));
}

/** A waiting message in its queue: before the JSON its run, which the functions compare. */
export function waitingEntry(message: UserMessage): string {
  return `${message.runId}\n${JSON.stringify(message)}`;
}

export function summaryOf(run: RunRecord): string {
  const { runId, saidAtMs, outcome, path, terminal } = run;
  return JSON.stringify({ runId, saidAtMs, outcome, path, terminal } satisfies RunSummary);
}

/** `UID CREATED_AT_MS` under a thread's name. */
export function threadEntryFrom(name: string, text: string): ThreadEntry {
  const space = text.lastIndexOf(" ");
  return { threadId: name, uid: text.slice(0, space), createdAtMs: Number(text.slice(space + 1)) };
}

/** The uid alone. */
export function threadUidFrom(reply: Reply | undefined): string | null {
  const text = textOrNull(reply);
  return text === null ? null : text.slice(0, text.lastIndexOf(" "));
}

export function threadStateFrom(text: string | null): ThreadState {
  switch (text) {
    case "running":
    case "awaiting":
    case "idle":
      return text;
    case null:
      return "idle";
    default:
      throw new Error(`Cannot read a thread: no state is called ${text}`);
  }
}

export function threadFrom(uid: string, reply: Reply): ThreadRecord {
  const [header, messageCount, waitingCount, tail] = listOf(reply);
  const [slug, rev, fence, state, snapshot, catalog, run] = listOf(header).map(textOrNull);
  return {
    uid,
    slug: slug ?? "",
    rev: Number(rev ?? 0),
    fence: fence ?? null,
    state: threadStateFrom(state ?? null),
    snapshot: snapshot ?? null,
    catalog: catalog ? parsed(catalog) : [],
    run: run ? parsed(run) : null,
    // The newest came first.
    tail: listOf(tail)
      .map((text) => parsed<Message>(textOf(text)))
      .reverse(),
    messageCount: Number(messageCount),
    waitingCount: Number(waitingCount),
  };
}
