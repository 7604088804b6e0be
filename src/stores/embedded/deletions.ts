import { UnreadableRecord } from "../../store.ts";
import type { Deletion, DeletionStore, ErasedThread } from "../../store/deletions.ts";
import type { SealedTelling } from "../../store/outbox.ts";
import { deletionKind } from "../backup/deletions.ts";
import { isObject } from "../checks.ts";
import { readText } from "../records.ts";
import { keyPart } from "./db.ts";
import { areTokensKnown } from "./fill-tokens.ts";
import type { EmbeddedDb, Key } from "./db.ts";
import { holdKind } from "./liveness.ts";
import type { Header, ThreadRecords } from "./thread-records.ts";
import type { UserRecords } from "./user-records.ts";

/** Records removed in one change: other changes wait for it. */
const AT_ONCE = 1_000;
/** Tokens that are read at once. */
const TOKENS_AT_ONCE = 500;

/**
 * Deletion: what refers to a thread or a user is removed in one change, with the tombstones; long parts follow in
 * pages.
 */
export function embeddedDeletions(
  db: EmbeddedDb,
  { users, threads }: { users: UserRecords; threads: ThreadRecords },
): DeletionStore {
  const plannedKey = ({ kind, slug, id }: Deletion): Key => ["deleting", kind, keyPart(slug), keyPart(id)];
  /** The threads of a deleted user have its `atMs`, and so the same prefix. */
  const goneAt = (slug: string, atMs: number): Key => ["deleted", keyPart(slug), atMs];

  const sweepKey = (slug: string): Key => ["sweeping", keyPart(slug)];

  /** Only in the first step of a deletion. */
  function tell({ kind, slug, id, atMs }: Deletion, tells: readonly SealedTelling[]): void {
    if (!db.has([...goneAt(slug, atMs), kind, keyPart(id)])) threads.outbox.tellSealed(slug, tells);
  }

  function noteGone(deletion: Deletion): void {
    const { kind, slug, id, atMs } = deletion;
    db.put([...goneAt(slug, atMs), kind, keyPart(id)], deletionKind.stored(deletion));
  }

  /**
   * The user's name for a thread. A thread of an earlier version has no listed owner until that is filled: its last
   * run names it.
   */
  function nameOf(slug: string, uid: string): { userId: string; name: string } | null {
    const owner = threads.orders.owner(slug, uid);
    if (owner && users.thread(slug, owner.userId, owner.name)?.uid === uid) return owner;
    const run = readable(() => threads.run(uid));
    const user = run && users.spender(slug, run.userId)?.user;
    const entry = user && users.threads(slug, user.userId).find((one) => one.uid === uid);
    return user && entry ? { userId: user.userId, name: entry.threadId } : null;
  }

  /** From then on nothing is written to the thread. */
  function bury(uid: string, atMs: number): void {
    const rev = readable(() => threads.header(uid))?.rev ?? 0;
    threads.putTombstone(uid, { rev, atMs });
  }

  /** Removes the thread from the lists beside its header, even if the header is unreadable (null). */
  function release(uid: string, header: Header | null | undefined): void {
    if (header) {
      threads.moveHold(uid, header.fence, null);
      threads.moveDeadline(uid, header.dueAtMs, null);
    } else if (header === null) {
      const holds = [...db.range(["held"], holdKind.read)].filter(({ value }) => value.uid === uid);
      const deadlines = [...db.range(["due"], readText)].filter(({ value }) => value === uid);
      for (const { key } of [...holds, ...deadlines]) db.remove(key);
    }
  }

  /** Within a change. */
  function buryWhole(uid: string, atMs: number): ErasedThread {
    const header = readable(() => threads.header(uid));
    release(uid, header);
    bury(uid, atMs);
    threads.removeHeader(uid);
    return { fence: header?.fence ?? null, watchers: [] };
  }

  async function empty(uid: string): Promise<void> {
    while (await db.change(`erase thread ${uid}`, () => threads.removeSome(uid, AT_ONCE)));
  }

  return {
    planDeletion: (deletion) =>
      db.change("plan a deletion", () => {
        const key = plannedKey(deletion);
        if (!db.has(key)) db.put(key, deletionKind.stored(deletion));
      }),

    plannedDeletions: (limit) =>
      db.read("look for planned deletions", () =>
        [...db.range(["deleting"], deletionKind.read, { limit })]
          .map(({ value }) => value)
          .toSorted((a, b) => a.atMs - b.atMs),
      ),

    endDeletion: (deletion) => db.change("end a deletion", () => db.remove(plannedKey(deletion))),

    unlistThread: (deletion, tells = []) =>
      db.change(`delete thread ${deletion.id}`, () => {
        const { slug, id: uid, atMs } = deletion;
        tell(deletion, tells);
        noteGone(deletion);
        const owner = nameOf(slug, uid);
        bury(uid, atMs);
        if (owner) users.removeThread(slug, owner.userId, owner.name);
        threads.orders.forget(slug, [uid]);
      }),

    unlistUser: (deletion, tells = []) =>
      db.change(`delete user ${deletion.id}`, () => {
        const { slug, id: userId, atMs } = deletion;
        const record = users.user(slug, userId);
        const entries = users.threads(slug, userId);
        tell(deletion, tells);
        noteGone(deletion);
        for (const { uid } of entries) {
          noteGone({ kind: "thread", slug, id: uid, atMs });
          bury(uid, atMs);
        }
        if (record) users.removeAll(slug, record);
        threads.outbox.dropToldOf(slug, userId);
        for (const { key } of speakersOf(slug, userId)) db.remove(key);
        const gone = [...db.range([...goneAt(slug, atMs), "thread"], deletionKind.read)];
        const uids = gone.map(({ value }) => value.id);
        threads.orders.forget(slug, uids);
        return uids.toSorted();
      }),

    async eraseThread(uid, atMs) {
      const erased = await db.change(`erase thread ${uid}`, () => buryWhole(uid, atMs));
      await empty(uid);
      return erased;
    },

    async eraseUnchanged(uid, atMs, rev) {
      const erased = await db.change(`erase thread ${uid}`, () => {
        const isOther = !threads.isDeleted(uid) && (readable(() => threads.header(uid))?.rev ?? 0) !== rev;
        return isOther ? null : buryWhole(uid, atMs);
      });
      if (erased) await empty(uid);
      return erased;
    },

    async eraseTokens(slug, userIds) {
      if (areTokensKnown(db)) return;
      const gone = new Set(userIds);
      for (let from: Key | null = null; ;) {
        const page: { key: Key; value: unknown }[] = await db.read("look for tokens", () =>
          users.tokens(slug, from, TOKENS_AT_ONCE),
        );
        const theirs = page.filter(({ value }) => isObject(value) && gone.has(String(value["userId"])));
        if (theirs.length > 0) {
          await db.change("erase tokens", () => theirs.forEach(({ key }) => users.removeTokenAt(key)));
        }
        const last = page.at(-1);
        if (page.length < TOKENS_AT_ONCE || last === undefined) return;
        from = [...last.key, 0];
      }
    },

    sweepPlace: (slug) =>
      db.read("look how far retention came", () => db.get(sweepKey(slug), readText) ?? null),

    setSweepPlace: (slug, place) =>
      db.change("note how far retention came", () => {
        if (place === null) db.remove(sweepKey(slug));
        else db.put(sweepKey(slug), place);
      }),
  };

  /** The days on which the user sent messages, as far as they are still known (stats.ts). */
  function speakersOf(slug: string, userId: string): { key: Key }[] {
    const found: { key: Key }[] = [];
    const first = (from: Key) => [...db.range(["sv"], () => null, { from, limit: 1 })][0]?.key[1];
    for (let day = first(["sv"]); day !== undefined; day = first(["sv", `${day}~`])) {
      const key: Key = ["sv", day, keyPart(slug), keyPart(userId)];
      if (db.has(key)) found.push({ key });
    }
    return found;
  }
}

/** null: unreadable. */
function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableRecord) return null;
    throw error;
  }
}
