import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../clock.ts";
import type { Channel } from "../../domain/channel.ts";
import { attributesField } from "../../domain/attributes.ts";
import { newId } from "../../domain/ids.ts";
import { storedName } from "../../domain/renamed-threads.ts";
import { mayTalk } from "../../domain/user.ts";
import type { ChannelState, User } from "../../domain/user.ts";
import type { UserAdmission, UserStore } from "../../store/users.ts";
import { channelOf, countChange } from "./channels.ts";
import type { EmbeddedDb } from "./db.ts";
import { areTokensKnown } from "./fill-tokens.ts";
import type { UserRecord, UserRecords } from "./user-records.ts";

/** Everything that identity.ts and thread-list.ts do not implement. */
type Users = Omit<UserStore, "readIdentity" | "promote" | "merge" | "listThreads">;

type Caller = Parameters<UserStore["admitUser"]>[0];

const stateOf = ({ enabled, accessMode }: Channel): ChannelState => ({ enabled, accessMode });

/** A new user is neither blocked nor whitelisted. */
const mayTalkIn = (channel: Channel, record: UserRecord | undefined): boolean =>
  mayTalk(stateOf(channel), record?.user ?? { blocked: false, whitelisted: false });

export function embeddedUsers(db: EmbeddedDb, records: UserRecords, clock: Clock): Users {
  const rotated = new Set<(tokenHash: string) => void>();

  /** What is known of a caller; `complete`: an admission would write nothing. */
  function known(caller: Caller) {
    const channel = channelOf(db, caller.slug);
    if (channel === undefined) return null;
    const record = records.account(caller.slug, caller.externalId);
    const { thread } = caller;
    const named =
      record === undefined || thread === null
        ? undefined
        : records.thread(caller.slug, record.user.userId, thread.name);
    const entry = named && !records.isDeletedThread(named.uid) ? named : undefined;
    const renames = caller.displayName !== null && caller.displayName !== record?.user.displayName;
    const describes =
      caller.attributes !== undefined &&
      !isDeepStrictEqual(attributesField(caller.attributes), attributesField(record?.user.attributes));
    const addsThread =
      thread !== null && thread.newUid !== null && entry === undefined && mayTalkIn(channel, record);
    const complete = !caller.creates || (record !== undefined && !renames && !describes && !addsThread);
    return { channel, record, threadUid: entry?.uid ?? null, complete };
  }

  function admission(found: NonNullable<ReturnType<typeof known>>): UserAdmission | null {
    const { channel, record, threadUid } = found;
    if (record === undefined) return null;
    return { user: record.user, channel: stateOf(channel), threadUid };
  }

  /** Writes what the admission lacks. */
  function complete(caller: Caller, { channel, record: found }: NonNullable<ReturnType<typeof known>>): void {
    const { slug, externalId, displayName, attributes, newUserId, thread, atMs } = caller;
    const record: UserRecord = found ?? {
      user: { userId: newUserId, externalId, displayName, blocked: false, whitelisted: false },
      createdAtMs: atMs,
      spent: [],
    };
    const { attributes: told, ...known } = record.user;
    const user: User = {
      ...known,
      displayName: displayName ?? known.displayName,
      ...attributesField(attributes ?? told),
    };
    records.putUser(slug, { ...record, user });
    if (thread === null || thread.newUid === null || !mayTalkIn(channel, found)) return;
    const named = records.thread(slug, user.userId, thread.name);
    if (named !== undefined && !records.isDeletedThread(named.uid)) return;
    // The uid is derived from the name, and must not be used twice.
    const uid = records.isDeletedThread(thread.newUid) ? newId() : thread.newUid;
    records.putThread(slug, user.userId, { uid, threadId: thread.name, createdAtMs: atMs });
  }

  return {
    mintVisitor: ({ slug, tokenHash, userId, snapshot, ttlMs, atMs, endsAtMs }) =>
      db.change("create a visitor", () => {
        const nowMs = clock.now();
        records.sweepTokens(nowMs);
        records.putToken(slug, tokenHash, {
          userId,
          snapshot,
          ...(endsAtMs === undefined ? {} : { endsAtMs }),
        });
        records.putExpiry(slug, tokenHash, Math.min(nowMs + ttlMs, endsAtMs ?? Infinity));
        if (records.user(slug, userId) !== undefined) return;
        const user = { userId, externalId: null, displayName: null, blocked: false, whitelisted: false };
        records.putUser(slug, { user, createdAtMs: atMs, spent: [] });
      }),

    async rotateToken({ slug, tokenHash, userId, newTokenHash, ttlMs, endsAtMs }) {
      const isRotated = await db.change("rotate a token", () => {
        const nowMs = clock.now();
        const token = records.token(slug, tokenHash, nowMs);
        if (token?.userId !== userId || records.user(slug, userId) === undefined) return false;
        const { endsAtMs: _, ...kept } = token;
        records.putToken(slug, newTokenHash, { ...kept, ...(endsAtMs === undefined ? {} : { endsAtMs }) });
        records.putExpiry(slug, newTokenHash, Math.min(nowMs + ttlMs, endsAtMs ?? Infinity));
        records.removeToken(slug, tokenHash, token);
        return true;
      });
      if (isRotated) rotated.forEach((callback) => callback(tokenHash));
      return isRotated;
    },

    // Only in this process: the command line, which may open the folder too, rotates no tokens.
    onTokenRotated(callback) {
      rotated.add(callback);
      return () => rotated.delete(callback);
    },

    revokeTokens: (slug, userId) =>
      db.change("revoke a user's tokens", () => {
        const record = records.user(slug, userId);
        if (record === undefined) return false;
        records.putUser(slug, { ...record, revocations: (record.revocations ?? 0) + 1 });
        countChange(db);
        return true;
      }),

    mendToken: ({ slug, tokenHash, unreadable, snapshot }) =>
      db.change("mend a token", () => {
        const token = records.token(slug, tokenHash, clock.now());
        if (token?.snapshot === unreadable) records.setTokenAside(slug, tokenHash, token, snapshot);
      }),

    async admitVisitor({ slug, tokenHash, ttlMs, threadId: threadName }) {
      const nowMs = clock.now();
      const admitted = await db.read("admit a visitor", () => {
        const token = records.token(slug, tokenHash, nowMs);
        const channel = channelOf(db, slug);
        if (token === undefined || channel === undefined) return null;
        const record = records.user(slug, token.userId);
        if (record === undefined) return null;
        const entry =
          threadName === null
            ? undefined
            : records.thread(slug, token.userId, storedName(token.renamed, threadName));
        return {
          user: record.user,
          snapshot: token.snapshot,
          ...(token.endsAtMs === undefined ? {} : { endsAtMs: token.endsAtMs }),
          channel: stateOf(channel),
          threadUid: entry?.uid ?? null,
        };
      });
      // Noted, not flushed: a power cut may undo the last extension of a token, and no request waits for the disk
      // here.
      if (admitted === null) return null;
      const expiresAtMs = Math.min(nowMs + ttlMs, admitted.endsAtMs ?? Infinity);
      await db.note("admit a visitor", records.expiryKey(slug, tokenHash), expiresAtMs);
      return admitted;
    },

    renamedThreads: (slug, tokenHash) =>
      db.read("read a token's threads", () => records.token(slug, tokenHash, clock.now())?.renamed ?? []),

    async admitUser(caller) {
      const found = await db.read("admit a user", () => known(caller));
      if (found === null || found.complete) return found && admission(found);
      return db.change("admit a user", () => {
        // Read again inside the change: it may have changed.
        const before = known(caller);
        if (before === null) return null;
        if (!before.complete) complete(caller, before);
        const after = known(caller);
        return after && admission(after);
      });
    },

    addThread: ({ slug, userId, threadId: name, uid, atMs }) =>
      db.change("add a thread", () => {
        if (records.user(slug, userId) === undefined) return false;
        if (records.thread(slug, userId, name) === undefined) {
          records.putThread(slug, userId, { uid, threadId: name, createdAtMs: atMs });
        }
        return true;
      }),

    dropSilentVisitor: (slug, userId) =>
      db.change("drop a silent visitor", () => {
        const record = records.user(slug, userId);
        if (record === undefined || record.user.externalId !== null) return false;
        if (record.user.blocked || record.user.whitelisted) return false;
        if (records.threads(slug, userId).length > 0) return false;
        records.removeUser(slug, record);
        return true;
      }),

    hasValidToken: (slug, userId) =>
      db.read("look for a user's tokens", () => {
        const isValid = (hash: string) => records.token(slug, hash, clock.now())?.userId === userId;
        return records.tokensOf(slug, userId).some(isValid) || (areTokensKnown(db) ? false : null);
      }),

    spendTokens: ({ slug, userId, day, tokens }) =>
      db.change("count tokens", () => {
        const record = records.spender(slug, userId);
        if (record !== undefined) records.putUser(slug, records.spend(record, day, tokens));
      }),

    spentTokens: (slug, userId, day) =>
      db.read("read a user's tokens", () => {
        const record = records.spender(slug, userId);
        return record === undefined ? 0 : records.spentOn(record, day);
      }),

    countTokens: ({ names, day, tokens }) =>
      db.change("count tokens", () => {
        for (const name of names) {
          records.putCounted(day, name, records.counted(day, name) + tokens, clock.now());
        }
      }),

    countedTokens: (names, day) =>
      db.read("read counted tokens", () => names.map((name) => records.counted(day, name))),

    findUser: (slug, id) =>
      db.read("find a user", () => (records.user(slug, id) ?? records.account(slug, id))?.user ?? null),

    users: (slug) =>
      db.read("list users", () =>
        records.userIds(slug).flatMap((userId) => {
          const record = records.user(slug, userId);
          return record === undefined ? [] : [record.user];
        }),
      ),

    usersPage: (slug, page) => db.read("list users", () => records.usersPage(slug, page)),

    flagUser: (slug, userId, flags) =>
      db.change("flag a user", () => {
        const record = records.user(slug, userId);
        if (record === undefined) return null;
        const user = { ...record.user, ...flags };
        records.putUser(slug, { ...record, user });
        countChange(db);
        return user;
      }),

    renameUser: (slug, userId, displayName) =>
      db.change("rename a user", () => {
        const record = records.user(slug, userId);
        if (record === undefined) return null;
        const user = { ...record.user, displayName };
        records.putUser(slug, { ...record, user });
        return user;
      }),

    threads: (slug, userId) => db.read("list threads", () => records.threads(slug, userId)),
  };
}
