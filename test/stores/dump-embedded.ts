import type { Reader } from "../../src/stores/checks.ts";
import { openDb } from "../../src/stores/embedded/db.ts";
import type { EmbeddedDb } from "../../src/stores/embedded/db.ts";
import { deletionKind } from "../../src/stores/backup/deletions.ts";
import { holdKind } from "../../src/stores/embedded/liveness.ts";
import { headerKind } from "../../src/stores/embedded/thread-records.ts";
import type { Header } from "../../src/stores/embedded/thread-records.ts";
import { threadNameKind, tokenKind, userKind } from "../../src/stores/embedded/user-records.ts";
import { readMessage, readRun, readRunSummary, readText, readUserMessage } from "../../src/stores/records.ts";
import type { StoreDump, ThreadDump } from "./invariants.ts";

/** Reads the whole embedded store past its own operations. */
export async function dumpEmbedded(dataDir: string): Promise<StoreDump> {
  const db = await openDb(dataDir);
  try {
    return dump(db);
  } finally {
    await db.close();
  }
}

function dump(db: EmbeddedDb): StoreDump {
  /** The records of a kind, with the parts of their keys after it. */
  const all = <T>(kind: string, read: Reader<T>) =>
    [...db.range([kind], read)].map(({ key, value }) => ({ parts: key.slice(1).map(String), value }));
  const slugged = <T>(kind: string, read: Reader<T>) =>
    all(kind, read).map(({ parts: [slug = "", second = ""], value }) => ({ slug, second, value }));

  return {
    users: slugged("u", userKind.read).map(({ slug, value }) => ({ slug, user: value.user })),
    accounts: slugged("x", readText).map(({ slug, value }) => ({ slug, userId: value })),
    listed: slugged("us", readText).map(({ slug, value }) => ({ slug, userId: value })),
    tokens: slugged("v", tokenKind.read).map(({ slug, value }) => ({ slug, userId: value.userId })),
    deleting: all("deleting", deletionKind.read).flatMap(({ value: { kind, slug, id } }) =>
      kind === "user" ? [{ slug, userId: id }] : [],
    ),
    names: slugged("n", threadNameKind.read).map(({ slug, second, value: { uid, name, createdAtMs } }) => ({
      slug,
      userId: second,
      entry: { uid, threadId: name, createdAtMs },
    })),
    threads: all("h", headerKind.read).map(({ parts: [uid = ""], value }) => threadDump(db, uid, value)),
    held: all("held", holdKind.read).map(({ parts: [processId = ""], value }) => ({
      processId,
      ...value,
      isListed: true,
    })),
    due: all("due", readText).map(({ parts: [atMs], value }) => ({ uid: value, atMs: Number(atMs) })),
  };
}

function threadDump(db: EmbeddedDb, uid: string, header: Header): ThreadDump {
  const under = <T>(kind: string, read: Reader<T>) =>
    [...db.range([kind, uid], read)].map(({ value }) => value);
  return {
    uid,
    rev: header.rev,
    fence: header.fence,
    state: header.state,
    snapshot: header.snapshot,
    runId: db.get(["r", uid], readRun)?.runId ?? null,
    messageCount: header.messageCount,
    messageIds: under("m", readMessage).map(({ id }) => id),
    runIds: under("rs", readRunSummary).map(({ runId }) => runId),
    queue: header.waiting,
    waiting: under("q", readUserMessage).map(({ runId }) => runId),
  };
}
