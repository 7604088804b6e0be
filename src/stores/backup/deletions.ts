import type { Deletion } from "../../store/deletions.ts";
import { isNumber, isText, kindOf, oneOf, shape } from "../checks.ts";
import { BadFile, readLines, writeLines } from "./lines.ts";
import type { BackupRecord } from "./records.ts";

/** A line of the file of a store's deletions (lines.ts): a restore of an earlier backup leaves them out. */
export const deletionKind = kindOf(
  "deletion",
  shape<Deletion>({
    kind: oneOf<Deletion["kind"]>({ thread: true, user: true }),
    slug: isText,
    id: isText,
    atMs: isNumber,
  }),
);

const FIRST = { type: "deletions", version: 1 };

/** Resolves to the number of deletions. */
export async function writeDeletions(path: string, deletions: AsyncIterable<Deletion>): Promise<number> {
  let count = 0;
  await writeLines(path, deletions, { isZipped: false, first: FIRST, onLine: () => (count += 1) });
  return count;
}

/** What a restore leaves out. */
export interface Deleted {
  threads: ReadonlySet<string>;
  /** `SLUG USER` */
  users: ReadonlySet<string>;
}

export const NOTHING_DELETED: Deleted = { threads: new Set(), users: new Set() };

/** How far the clocks of the processes that deleted, and of the one that took the backup, may differ. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * The deletions after a backup was taken. Older ones do not count: a uid that is derived from a thread's name may be
 * a later thread's in the backup. Throws BadFile.
 */
export async function readDeletions(path: string, takenAtMs: number): Promise<Deleted> {
  const file = await readLines(path, {
    isZipped: false,
    type: FIRST.type,
    what: "file of deletions",
    read: deletionKind.read,
    readEnd: (line) => line,
  });
  if (file.first["version"] !== FIRST.version) throw new BadFile(path, "a later version wrote it");
  const threads = new Set<string>();
  const users = new Set<string>();
  for await (const { kind, slug, id, atMs } of file.lines) {
    if (atMs < takenAtMs - CLOCKS_DIFFER_MS) continue;
    if (kind === "thread") threads.add(id);
    else users.add(`${slug} ${id}`);
  }
  return { threads, users };
}

/** Null: nothing of the record is restored. */
export function withoutDeleted(record: BackupRecord, { threads, users }: Deleted): BackupRecord | null {
  switch (record.type) {
    case "piece":
    case "thread":
      return threads.has(record.uid) ? null : record;
    case "user":
      return users.has(`${record.slug} ${record.user.userId}`) ? null : record;
    case "token":
      return users.has(`${record.slug} ${record.userId}`) ? null : record;
    case "names": {
      if (users.has(`${record.slug} ${record.userId}`)) return null;
      if (threads.size === 0) return record;
      return { ...record, names: record.names.filter(({ uid }) => !threads.has(uid)) };
    }
    case "stats": {
      const { slug, speakers } = record;
      if (speakers === undefined || users.size === 0) return record;
      return { ...record, speakers: speakers.filter((userId) => !users.has(`${slug} ${userId}`)) };
    }
    case "channel":
    case "address":
    case "operator":
    case "audit":
    case "source":
    case "page":
    case "moved":
      return record;
  }
}
