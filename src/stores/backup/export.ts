import { UnreadableRecord } from "../../store.ts";
import type { ThreadEntry } from "../../store/users.ts";
import type { Reader } from "../walk.ts";
import { chunks } from "./pages.ts";
import {
  addressesOf,
  auditPages,
  channelsOf,
  namePages,
  operatorsOf,
  statsPages,
  tokenPages,
  userPages,
} from "./read-store.ts";
import type { UserRead } from "./read-store.ts";
import { documentsOf } from "./read-documents.ts";
import { readThread } from "./read-thread.ts";
import type { BackupRecord } from "./records.ts";
import { seenUids } from "./seen-uids.ts";

type Which = "anonymous" | "accounts";

/** Threads that are read at once. */
const AT_ONCE = 64;

/**
 * Everything in a store as the records of a backup, while a service changes it. Users come with their threads,
 * anonymous ones before accounts: an identify meanwhile moves threads to users that are read later, so none is
 * missed. A thread that is read a second time is marked as moved: its records before that mark are not restored.
 */
export async function* exportStore(
  reader: Reader,
  onUnreadable: (error: UnreadableRecord) => void,
): AsyncIterable<BackupRecord> {
  const channels = await channelsOf(reader);
  for (const channel of channels) yield { type: "channel", channel };
  for (const address of await addressesOf(reader)) yield { type: "address", address };
  for (const operator of await operatorsOf(reader)) yield { type: "operator", operator };
  for await (const entries of auditPages(reader)) yield* entries;
  for await (const days of statsPages(reader)) yield* days;

  const ofAnonymous = seenUids();
  for (const which of ["anonymous", "accounts"] as const) {
    for (const { slug } of channels) {
      for await (const users of userPages(reader, slug, which)) yield* exportUsers(users, which);
    }
  }
  for await (const tokens of tokenPages(reader)) yield* tokens;
  for (const { slug } of channels) yield* documentsOf(reader, slug);

  async function* exportUsers(users: UserRead[], which: Which): AsyncIterable<BackupRecord> {
    yield* exportThreads(
      users.flatMap(({ names }) => names ?? []),
      which,
    );
    for (const { record, names } of users) {
      const { slug, user } = record;
      const pages = names === null ? namePages(reader, slug, user.userId) : [names];
      for await (const page of pages) {
        if (names === null) yield* exportThreads(page, which);
        if (page.length > 0) yield { type: "names", slug, userId: user.userId, names: page };
      }
      yield record;
    }
  }

  async function* exportThreads(entries: ThreadEntry[], which: Which): AsyncIterable<BackupRecord> {
    for (const some of chunks(entries, AT_ONCE)) {
      const threads = some.map(({ uid }) => ({ uid, records: readThread(reader, uid) }));
      // An error is thrown where the records are read.
      for (const { records } of threads) records.catch(() => {});
      for (const { uid, records } of threads) {
        if (which === "anonymous") ofAnonymous.add(uid);
        // Of a thread that was not read before the mark means nothing.
        else if (ofAnonymous.mayHave(uid)) yield { type: "moved", uid };
        yield* readable(uid, records);
      }
    }
  }

  /** If one of a thread's records is unreadable, those before it do not count. */
  async function* readable(uid: string, records: ReturnType<typeof readThread>): AsyncIterable<BackupRecord> {
    let hasSome = false;
    try {
      for await (const record of await records) {
        hasSome = true;
        yield record;
      }
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      onUnreadable(error);
      if (hasSome) yield { type: "moved", uid };
    }
  }
}
