import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../clock.ts";
import { changePlaces } from "../../domain/renamed-threads.ts";
import type { RenamedThread } from "../../domain/renamed-threads.ts";
import type { User } from "../../domain/user.ts";
import type { UserStore } from "../../store/users.ts";
import type { EmbeddedDb } from "./db.ts";
import type { UserRecord, UserRecords } from "./user-records.ts";
import { countChange } from "./channels.ts";
import { outboxRecords } from "./outbox.ts";
import { freshAlias } from "../fresh-alias.ts";

type Identity = Pick<UserStore, "readIdentity" | "promote" | "merge">;

/** Identify: its read and its two steps. Each step names what was read, and does nothing if it has changed. */
export function embeddedIdentity(db: EmbeddedDb, records: UserRecords, clock: Clock): Identity {
  const outbox = outboxRecords(db);

  /** The user's record, if the user is still as it was read. */
  function unchanged(slug: string, read: User): UserRecord | undefined {
    const record = records.user(slug, read.userId);
    return isDeepStrictEqual(record?.user, read) ? record : undefined;
  }

  function isBoundTo(slug: string, tokenHash: string, userId: string): boolean {
    return records.token(slug, tokenHash, clock.now())?.userId === userId;
  }

  /** Binds the token to a user, with that user's revocations; its end stays the same. */
  function rebind(
    slug: string,
    tokenHash: string,
    bound: {
      userId: string;
      snapshot: string;
      revocations: number | undefined;
      renamed?: RenamedThread[];
    },
  ): void {
    const { userId, snapshot, revocations, renamed = [] } = bound;
    const endsAtMs = records.token(slug, tokenHash, clock.now())?.endsAtMs;
    records.putToken(slug, tokenHash, {
      userId,
      snapshot,
      ...(revocations === undefined ? {} : { revocations }),
      ...(endsAtMs === undefined ? {} : { endsAtMs }),
      ...(renamed.length === 0 ? {} : { renamed }),
    });
  }

  function moveThreads(slug: string, from: string, into: string): RenamedThread[] {
    const renamed: RenamedThread[] = [];
    const moving = records.threads(slug, from);
    const taken = new Set([...moving, ...records.threads(slug, into)].map((entry) => entry.threadId));
    for (const entry of moving) {
      const collides = records.thread(slug, into, entry.threadId) !== undefined;
      const name = collides ? freshAlias(entry.threadId, taken) : entry.threadId;
      if (collides) renamed.push(...changePlaces(entry.threadId, name));
      records.removeThread(slug, from, entry.threadId);
      records.putThread(slug, into, { ...entry, threadId: name });
    }
    return renamed;
  }

  return {
    readIdentity: (slug, tokenHash, externalId) =>
      db.read("read an identity", () => {
        const token = records.token(slug, tokenHash, clock.now());
        const record = token && records.user(slug, token.userId);
        return {
          visitor: token && record ? { user: record.user, snapshot: token.snapshot } : null,
          account: records.account(slug, externalId)?.user ?? null,
        };
      }),

    promote: ({ slug, tokenHash, externalId, user, snapshot, tells = [] }) =>
      db.change("promote a visitor", () => {
        const record = unchanged(slug, user);
        if (record === undefined || !isBoundTo(slug, tokenHash, user.userId)) return "changed";
        if (records.account(slug, externalId) !== undefined) return "changed";
        records.putUser(slug, { ...record, user: { ...user, externalId } });
        rebind(slug, tokenHash, { userId: user.userId, snapshot, revocations: record.revocations });
        outbox.tellSealed(slug, tells);
        return "done";
      }),

    merge: ({ slug, tokenHash, from, into, result, snapshot, tells = [] }) =>
      db.change("merge two users", () => {
        const anonymous = unchanged(slug, from);
        const account = unchanged(slug, into);
        if (anonymous === undefined || account === undefined) return "changed";
        if (!isBoundTo(slug, tokenHash, from.userId)) return "changed";
        const renamed = moveThreads(slug, from.userId, into.userId);
        records.removeUser(slug, anonymous);
        records.putMoved(slug, from.userId, { into: into.userId, atMs: clock.now() });
        // The tokens of both count for the account: starting over does not escape a daily cap.
        const spent = anonymous.spent.reduce(
          (sum, { day, tokens }) => records.spend(sum, day, tokens),
          account,
        );
        // The keys that encrypt the moved threads go with them.
        const contentKeys = { ...anonymous.contentKeys, ...spent.contentKeys };
        const kept = Object.keys(contentKeys).length > 0 ? { contentKeys } : {};
        records.putUser(slug, { ...spent, ...kept, user: result });
        // A user who could talk before is blocked now: every process notices.
        if (result.blocked && !from.blocked) countChange(db);
        const { revocations } = account;
        rebind(slug, tokenHash, { userId: into.userId, snapshot, revocations, renamed });
        outbox.tellSealed(slug, tells);
        return "done";
      }),
  };
}
