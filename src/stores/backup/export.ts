import { UnreadableRecord } from "../../store.ts";
import type { ThreadEntry } from "../../store/users.ts";
import type { BackupRecord } from "./records.ts";
import { seenUids } from "./seen-uids.ts";
import type { BackupSource, ThreadRead, UserRead } from "./source.ts";

/** Threads that are read at once. */
const AT_ONCE = 64;

/**
 * Everything in a store as the records of a backup, while a service changes it. Users come with their threads,
 * anonymous ones before accounts: an identify meanwhile moves threads to users that are read later, so none is
 * missed. A thread that is read a second time is marked as moved: its records before that mark are not restored.
 */
export async function* exportStore(
  source: BackupSource,
  onUnreadable: (error: UnreadableRecord) => void,
): AsyncIterable<BackupRecord> {
  const channels = await source.channels();
  for (const channel of channels) yield { type: "channel", channel };
  for (const address of await source.blockedIps()) yield { type: "address", address };
  for (const operator of await source.operators()) yield { type: "operator", operator };
  for await (const entries of source.audit()) yield* entries;
  for await (const days of source.stats()) yield* days;

  const ofAnonymous = seenUids();
  for (const which of ["anonymous", "accounts"] as const) {
    for (const { slug } of channels) {
      for await (const users of source.users(slug, which)) yield* exportUsers(users, which);
    }
  }
  for await (const tokens of source.tokens()) {
    yield* tokens;
  }

  async function* exportUsers(
    users: UserRead[],
    which: "anonymous" | "accounts",
  ): AsyncIterable<BackupRecord> {
    yield* exportThreads(
      users.flatMap(({ names }) => names ?? []),
      which,
    );
    for (const { record, names } of users) {
      const { slug, user } = record;
      const pages = names === null ? source.names(slug, user.userId) : [names];
      for await (const page of pages) {
        if (names === null) yield* exportThreads(page, which);
        if (page.length > 0) yield { type: "names", slug, userId: user.userId, names: page };
      }
      yield record;
    }
  }

  async function* exportThreads(
    entries: ThreadEntry[],
    which: "anonymous" | "accounts",
  ): AsyncIterable<BackupRecord> {
    for (let i = 0; i < entries.length; i += AT_ONCE) {
      const some = entries.slice(i, i + AT_ONCE);
      const threads = await Promise.all(some.map(({ uid }) => readThread(uid)));
      for (const [nth, { uid }] of some.entries()) {
        if (which === "anonymous") ofAnonymous.add(uid);
        else if (ofAnonymous.has(uid)) yield { type: "moved", uid };
        const thread = threads[nth];
        if (!thread) continue;
        yield thread.first;
        if (thread.rest) yield* readableOf(uid, thread.rest);
      }
    }
  }

  /** If one of them is unreadable, those before it do not count. */
  async function* readableOf(uid: string, rest: AsyncIterable<BackupRecord>): AsyncIterable<BackupRecord> {
    try {
      yield* rest;
    } catch (error) {
      report(error);
      yield { type: "moved", uid };
    }
  }

  async function readThread(uid: string): Promise<ThreadRead | null> {
    try {
      return await source.thread(uid);
    } catch (error) {
      report(error);
      return null;
    }
  }

  function report(error: unknown): void {
    if (!(error instanceof UnreadableRecord)) throw error;
    onUnreadable(error);
  }
}
