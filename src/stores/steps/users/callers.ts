import { attributesField } from "../../../domain/people/attributes.ts";
import { newId } from "../../../domain/ids.ts";
import { mayTalk } from "../../../domain/people/user.ts";
import type { ChannelState, User } from "../../../domain/people/user.ts";
import type { UserAdmission, UserStore } from "../../../store.ts";
import type { Check, Engine, Read, Write } from "../../engine.ts";
import { externalId as keyOfExternalId, tables, USER } from "../../tables.ts";
import { fieldIs, fieldsAre } from "../field-is.ts";
import { isDeletedOwner } from "../orders/owners.ts";
import { inTurn } from "../in-turn.ts";
import { untilApplied } from "../until-applied.ts";
import type { Known } from "../known.ts";
import { newThread, ownerText } from "./new-thread.ts";
import type { Places } from "./places.ts";
import {
  CHANNEL_FIELDS,
  channelStateFrom,
  flag,
  slotOfChannel,
  uidFrom,
  USER_FIELDS,
  userFrom,
  userTexts,
  userWrites,
} from "./user-record.ts";

type Caller = Parameters<UserStore["admitUser"]>[0];

/** What is stored of a caller's account. */
interface Account {
  userId: string;
  /** Null: no user has the external id yet. */
  account: string | null;
  user: User | null;
  /** USER.threads. */
  threads: string | null;
  channel: ChannelState;
  /** The caller's name for the thread that was there last time; null: none. */
  lastName: string | null;
}

interface Found extends Account {
  /** The value of the name of the thread that is asked for. */
  entry: string | null;
  /** The owner of the uid that it would get. */
  owner: string | null;
}

interface Change {
  checks: Check[];
  writes: Write[];
  admission: UserAdmission;
  /** What is stored then. */
  account: Account;
}

const NAME = { name: "admitUser" };
const ACCOUNT_FIELDS = [...USER_FIELDS, USER.threads];

/**
 * Admits by an external id: one read if nothing changes, or one step if this process knows the account and it asks for a
 * thread, which may be new; otherwise a read, and a step if something changes.
 */
export function callerAdmission(
  engine: Engine,
  known: Known<Account>,
  places: Places,
): Pick<UserStore, "admitUser"> {
  /** Null: no such channel. undefined: it is another user, whom the next call finds. */
  function foundFrom(
    { newUserId, thread }: Caller,
    external: string,
    { userId, answers }: { userId: string; answers: (string | null)[][] },
  ): Found | null | undefined {
    const [[account = null] = [], state = [], fields = [], [entry = null] = [], [owner = null] = []] =
      answers;
    const channel = channelStateFrom(state, external);
    if (channel === null) return null;
    if ((account ?? newUserId) !== userId) {
      const other = {
        userId: account ?? newUserId,
        account,
        user: null,
        threads: null,
        channel,
        lastName: null,
      };
      if (account === null) known.forget(external);
      else known.set(external, other);
      return undefined;
    }
    const threads = fields[USER_FIELDS.length] ?? null;
    const lastName = entry === null ? null : (thread?.name ?? null);
    const found = { userId, account, user: userFrom(fields), threads, channel, lastName };
    if (account !== null) known.set(external, found);
    return { ...found, entry, owner };
  }

  async function find(caller: Caller, external: string): Promise<Found | null | undefined> {
    const userId = known.get(external)?.userId ?? caller.newUserId;
    const answers = await engine.read(readsOf(caller, external, userId), NAME);
    return foundFrom(caller, external, { userId, answers });
  }

  /** As if the thread were new, and the account as it was; undefined: it may have none then. Costs Redis more than a read. */
  async function guessed(
    caller: Caller,
    external: string,
    account: Account,
  ): Promise<UserAdmission | null | undefined> {
    const { userId, user } = account;
    const change = changeOf(caller, { ...account, entry: null, owner: null }, { external, places });
    if (user === null || change.admission.threadUid === null) return undefined;
    const { type, reads } = await engine.apply({
      ...NAME,
      slot: slotOfChannel(caller.slug),
      checks: change.checks,
      writes: change.writes,
      reads: readsOf(caller, external, userId),
    });
    if (type === "failed")
      return decided(caller, external, foundFrom(caller, external, { userId, answers: reads }));
    known.set(external, change.account);
    return change.admission;
  }

  /** undefined: what was read has changed. */
  async function decided(
    caller: Caller,
    external: string,
    found: Found | null | undefined,
  ): Promise<UserAdmission | null | undefined> {
    if (!found) return found;
    if (!caller.creates) return found.user && { ...admissionOf(found), user: found.user };
    const { checks, writes, admission, account } = changeOf(caller, found, { external, places });
    if (writes.length === 0) return admission;
    const slot = slotOfChannel(caller.slug);
    if ((await engine.apply({ ...NAME, slot, checks, writes })).type === "failed") return undefined;
    known.set(external, account);
    return admission;
  }

  async function attempt(caller: Caller, external: string): Promise<UserAdmission | null | undefined> {
    return decided(caller, external, await find(caller, external));
  }

  const turn = inTurn();
  return {
    async admitUser(caller) {
      const external = tables.external.key(caller.slug, keyOfExternalId(caller.externalId));
      const account = known.get(external);
      const { thread } = caller;
      const mayGuess = account && caller.creates && thread?.newUid && thread.name !== account.lastName;
      const first =
        (mayGuess ? await guessed(caller, external, account) : undefined) ??
        (await attempt(caller, external));
      if (first !== undefined) return first;
      // Others of this process change the same user, perhaps.
      return turn(external, () => untilApplied("admit a user", () => attempt(caller, external)));
    },
  };
}

function readsOf(caller: Caller, external: string, userId: string): (Read & { read: "fields" })[] {
  const { slug } = caller;
  return [
    { read: "fields", key: external, fields: ["user"] },
    { read: "fields", key: tables.channel.key(slug), fields: CHANNEL_FIELDS },
    { read: "fields", key: tables.user.key(slug, userId), fields: ACCOUNT_FIELDS },
    ...threadReads(caller, userId),
  ];
}

/** The name of the thread that is asked for, and the owner of the uid that it would get. */
function threadReads({ slug, thread }: Caller, userId: string): (Read & { read: "fields" })[] {
  if (thread === null) return [];
  const name = { read: "fields" as const, key: tables.names.key(slug, userId), fields: [thread.name] };
  if (thread.newUid === null) return [name];
  return [name, { read: "fields", key: tables.owners.key(slug), fields: [thread.newUid] }];
}

function admissionOf({ channel, entry }: Found): Omit<UserAdmission, "user"> {
  return { channel, threadUid: entry === null ? null : uidFrom(entry) };
}

/** A new user's record comes last: until then, there is no such user. */
function changeOf(
  caller: Caller,
  found: Found,
  { external, places }: { external: string; places: Places },
): Change {
  const { slug, atMs } = caller;
  const { userId, account } = found;
  const key = tables.user.key(slug, userId);
  const user = userAfter(caller, found);
  const added = threadOf(caller, found, user);
  const admission = { ...admissionOf(found), user };
  const threads = added?.fields[0]?.[1] ?? found.threads;
  const lastName = added ? (caller.thread?.name ?? null) : found.lastName;
  const after: Account = { userId, account: userId, user, threads, channel: found.channel, lastName };
  if (found.user === user && added === null) return { checks: [], writes: [], admission, account: after };

  const record = userWrites(key, found.user, user, added?.fields);
  const ofThread = added?.writes ?? [];
  const checks = [
    fieldIs(external, "user", account, userId),
    // The whole record: of what the caller tells, only what differs from it is written.
    ...(found.user
      ? fieldsAre(key, USER_FIELDS, userTexts(found.user), userTexts(user))
      : [fieldIs(key, USER.id, null)]),
  ];
  if (added) {
    checks.push(...added.checks);
    admission.threadUid = added.uid;
  }
  if (found.user) return { checks, writes: [...record, ...ofThread], admission, account: after };
  const member = [userId, places(atMs)] as const;
  const first: Write[] = [
    { write: "set", key: external, fields: [["user", userId]] },
    { write: "put", key: tables.users.key(slug), members: [member], mode: "new" },
  ];
  return { checks, writes: [...first, ...ofThread, ...record], admission, account: after };
}

/** The stored user itself if the caller tells nothing. */
function userAfter({ externalId, displayName, attributes }: Caller, { userId, user }: Found): User {
  const stored = user ?? { userId, externalId, displayName: null, blocked: false, whitelisted: false };
  if (displayName === null && attributes === undefined) return stored;
  const { attributes: known, ...rest } = stored;
  return { ...rest, displayName: displayName ?? rest.displayName, ...attributesField(attributes ?? known) };
}

/** The thread that is made for the caller; null: none. */
function threadOf({ slug, thread, atMs }: Caller, found: Found, user: User) {
  const { userId, threads, channel, entry, owner } = found;
  if (!thread?.newUid || entry !== null || !mayTalk(channel, user)) return null;
  // The caller's uid follows from the name, and that of a deleted thread is never used again.
  const uid = isDeletedOwner(owner) ? newId() : thread.newUid;
  const threadId = thread.name;
  const { checks, fields, writes } = newThread({ slug, userId, threadId, uid, atMs }, threads);
  return {
    uid,
    fields,
    writes,
    checks: [
      ...checks,
      fieldIs(tables.owners.key(slug), thread.newUid, owner, ownerText(userId, threadId)),
      ...fieldsAre(tables.channel.key(slug), CHANNEL_FIELDS, [flag(channel.enabled), channel.accessMode]),
    ],
  };
}
