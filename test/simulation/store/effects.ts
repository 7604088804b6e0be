import type { UserMessage } from "../../../src/domain/threads/message.ts";
import type { ThreadCommit } from "../../../src/store.ts";
import type { Engine, Step, Write } from "../../../src/stores/engine.ts";
import { catalogFrom } from "../../../src/stores/steps/threads/records.ts";
import { threadEntryFrom } from "../../../src/stores/steps/users/user-record.ts";
import { HEADER, partsOfKey, tables, TOKEN, USER } from "../../../src/stores/tables.ts";
import type { Table } from "../../../src/stores/tables.ts";
import type { KeptPart, StoreEffect, UserLeft } from "../happening.ts";

/** What a process has asked of its store, in plain text: a step has it in its stored form, and may be encrypted. */
export interface Asked {
  /** By `opId`. */
  commits: Map<string, ThreadCommit>;
  /** By their runs. */
  messages: Map<string, UserMessage>;
  /** By partName. */
  parts: Map<string, KeptPart>;
}

export const partName = (fence: string, runId: string, nth: number) => `${fence} ${runId}:${nth}`;

/** What the checker is told of a step that is done; null: nothing. */
export function effectOf(
  step: Step,
  asked: Asked,
  { by, hadToken }: { by: string; hadToken: boolean },
): StoreEffect | null {
  const { name, slot, op } = step;
  const header = writeOf(step, tables.header);
  const uid = header ? idIn(header.key) : "";
  switch (name) {
    case "commit": {
      const commit = asked.commits.get(fieldIn(header, HEADER.op) ?? "");
      return commit ? { type: "committed", uid, by, commit } : null;
    }
    case "wait": {
      const [run] = fieldsOf(writeOf(step, tables.waiting));
      const message = run && asked.messages.get(run[0]);
      return message ? { type: "waited", uid, message } : null;
    }
    case "keepPart": {
      const [part] = fieldsOf(writeOf(step, tables.parts));
      const kept = part && asked.parts.get(`${checkedIn(step, tables.header, HEADER.fence)} ${part[0]}`);
      return kept ? { type: "part kept", uid: kept.uid, part: kept } : null;
    }
    case "setCatalog":
      return { type: "catalog set", uid, catalog: catalogFrom(fieldIn(header, HEADER.catalog), uid) };
    case "promote":
      return leftBy(slot, idIn(writeOf(step, tables.user)?.key ?? ""));
    case "merge":
      return leftBy(slot, membersOf(writeOf(step, tables.users))[0] ?? "");
    case undefined:
      if (op?.field === HEADER.op) return { type: "erased", uid: idIn(op.key), by };
      return deletionOf(step, by) ?? ofChannel(step, hadToken);
    default:
      return null;
  }
}

function deletionOf(step: Step, by: string): StoreEffect | null {
  const write = writeOf(step, tables.deleting);
  const [member] = membersOf(write);
  if (member === undefined) return null;
  const [kind, slug = "", id = ""] = member.split(" ");
  const atMs = write?.write === "put" ? (write.members[0]?.[1] ?? 0) : 0;
  const deletion = { kind: kind === "user" ? ("user" as const) : ("thread" as const), slug, id, atMs };
  return { type: "deletion", step: write?.write === "put" ? "planned" : "ended", deletion, by };
}

/** Of a channel's users and threads. */
function ofChannel(step: Step, hadToken: boolean): StoreEffect | null {
  const slug = slugOf(step.slot);
  const gone = membersOf(writeOf(step, tables.gone));
  const uids = gone.flatMap((member) => (member.startsWith("t ") ? [member.slice(2)] : []));
  const userId = gone.find((member) => member.startsWith("u "))?.slice(2);
  if (userId !== undefined) return leftBy(step.slot, userId, { uids, was: userBefore(step, hadToken) });
  const [unlisted] = uids;
  if (unlisted !== undefined) return { type: "thread unlisted", uid: unlisted };

  const users = writeOf(step, tables.users);
  const [user] = membersOf(users);
  if (user !== undefined) {
    if (users?.write === "put") return { type: "user came", slug, userId: user };
    return leftBy(step.slot, user, { uids: [], was: userBefore(step, hadToken) });
  }

  const names = writeOf(step, tables.names);
  const [[name, entry] = []] = fieldsOf(names);
  if (names && name !== undefined && entry !== undefined) {
    const { uid, createdAtMs } = threadEntryFrom(name, entry);
    return { type: "thread listed", uid, slug, userId: idIn(names.key), atMs: createdAtMs };
  }
  const holder = checkedIn(step, tables.token, TOKEN.user);
  const isErased = writeOf(step, tables.token)?.write === "drop";
  return isErased && holder ? { type: "token erased", userId: holder } : null;
}

function leftBy(
  slot: string,
  userId: string,
  more: Pick<UserLeft, "uids" | "was"> = { uids: [], was: null },
) {
  return { type: "user left" as const, left: { slug: slugOf(slot), userId, ...more } };
}

function userBefore(step: Step, hadToken: boolean): UserLeft["was"] {
  if (checkedIn(step, tables.user, USER.id) === null) return null;
  return { externalId: checkedIn(step, tables.user, USER.external), hadToken };
}

/** Just before a step that drops a user: could somebody come in as it? */
export async function couldComeIn(data: Engine, step: Step): Promise<boolean> {
  const tokens = writeOf(step, tables.tokens);
  if (step.name !== undefined || tokens?.write !== "drop") return false;
  const [listed] = await data.read([{ read: "hash", key: tokens.key }]);
  const [slug, userId] = [slugOf(step.slot), idIn(tokens.key)];
  const holders = await data.read(
    listed.map(([hash]) => ({
      read: "fields" as const,
      key: tables.token.key(slug, hash),
      fields: [TOKEN.user],
    })),
  );
  return holders.some(([holder]) => holder === userId);
}

/** The first write of a kind of key. */
function writeOf({ writes }: Step, { name }: Table): Write | undefined {
  return writes.find(({ key }) => key.startsWith(`${name}:`));
}

function fieldsOf(write: Write | undefined) {
  return write?.write === "set" ? write.fields : [];
}

function fieldIn(write: Write | undefined, field: string): string | undefined {
  return fieldsOf(write).find(([name]) => name === field)?.[1];
}

function membersOf(write: Write | undefined): readonly string[] {
  if (write?.write === "put") return write.members.map(([member]) => member);
  return write?.write === "take" ? write.members : [];
}

/** What the step has found in a field of a kind of key. */
function checkedIn({ checks }: Step, { name }: Table, field: string): string | null {
  for (const check of checks) {
    const isIt = check.check === "field" && check.field === field && check.key.startsWith(`${name}:`);
    if (isIt) return check.is[0] ?? null;
  }
  return null;
}

const idIn = (key: string) => partsOfKey(key)?.id ?? "";
/** `c:shop` */
const slugOf = (slot: string) => slot.slice(2);
