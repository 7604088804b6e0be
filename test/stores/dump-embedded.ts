import type { Message, RunRecord, UserMessage } from "../../src/domain/message.ts";
import type { RunSummary } from "../../src/store.ts";
import { openDb } from "../../src/stores/embedded/db.ts";
import type { EmbeddedDb } from "../../src/stores/embedded/db.ts";
import type { Header } from "../../src/stores/embedded/thread-records.ts";
import type { ThreadNameRecord, TokenRecord, UserRecord } from "../../src/stores/embedded/user-records.ts";
import type { StoreDump, ThreadDump } from "./invariants.ts";

/** Reads the whole embedded store past its own operations. */
export async function dumpEmbedded(dataDir: string): Promise<StoreDump> {
  const db = openDb(dataDir);
  try {
    return dump(db);
  } finally {
    await db.close();
  }
}

function dump(db: EmbeddedDb): StoreDump {
  /** The records of a kind, with the parts of their keys after it. */
  const all = <T>(kind: string) =>
    [...db.range<T>([kind])].map(({ key, value }) => ({ parts: key.slice(1).map(String), value }));
  const slugged = <T>(kind: string) =>
    all<T>(kind).map(({ parts: [slug = "", second = ""], value }) => ({ slug, second, value }));

  return {
    users: slugged<UserRecord>("u").map(({ slug, value }) => ({ slug, user: value.user })),
    accounts: slugged<string>("x").map(({ slug, value }) => ({ slug, userId: value })),
    listed: slugged<string>("us").map(({ slug, value }) => ({ slug, userId: value })),
    tokens: slugged<TokenRecord>("v").map(({ slug, value }) => ({ slug, userId: value.userId })),
    names: slugged<ThreadNameRecord>("n").map(({ slug, second, value: { uid, name, createdAtMs } }) => ({
      slug,
      userId: second,
      entry: { uid, threadId: name, createdAtMs },
    })),
    threads: all<Header>("h").map(({ parts: [uid = ""], value }) => threadDump(db, uid, value)),
    held: all<{ uid: string; fence: string }>("held").map(({ parts: [processId = ""], value }) => ({
      processId,
      ...value,
    })),
    due: all<string>("due").map(({ parts: [atMs], value }) => ({ uid: value, atMs: Number(atMs) })),
  };
}

function threadDump(db: EmbeddedDb, uid: string, header: Header): ThreadDump {
  const under = <T>(kind: string) => [...db.range<T>([kind, uid])].map(({ value }) => value);
  return {
    uid,
    rev: header.rev,
    fence: header.fence,
    state: header.state,
    snapshot: header.snapshot,
    runId: db.get<RunRecord>(["r", uid])?.runId ?? null,
    messageCount: header.messageCount,
    messageIds: under<Message>("m").map(({ id }) => id),
    runIds: under<RunSummary>("rs").map(({ runId }) => runId),
    queue: header.waiting,
    waiting: under<UserMessage>("q").map(({ runId }) => runId),
  };
}
