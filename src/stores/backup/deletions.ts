import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Deletion } from "../../store/deletions.ts";
import { isNumber, isObject, isText, kindOf, oneOf, shape } from "../checks.ts";
import { BadBackup } from "./file.ts";
import type { BackupRecord } from "./records.ts";

/**
 * The deletions of a store, in a file of lines of JSON: a restore of an earlier backup leaves them out. The last line
 * has the SHA-256 of all lines before it.
 */
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

/** Writes `PATH.partial`, and renames it when it is complete. Resolves to the number of deletions. */
export async function writeDeletions(path: string, deletions: AsyncIterable<Deletion[]>): Promise<number> {
  const partial = `${path}.partial`;
  const hash = createHash("sha256");
  let count = 0;

  async function* lines(): AsyncIterable<string> {
    const counted = (value: object) => {
      const line = `${JSON.stringify(value)}\n`;
      hash.update(line);
      return line;
    };
    yield counted(FIRST);
    for await (const page of deletions) {
      count += page.length;
      yield page.map(counted).join("");
    }
    yield `${JSON.stringify({ type: "end", sha256: hash.digest("hex") })}\n`;
  }

  try {
    await pipeline(Readable.from(lines()), createWriteStream(partial, { mode: 0o600, flush: true }));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
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
 * a later thread's in the backup. Throws BadBackup if the file is truncated or changed.
 */
export async function readDeletions(path: string, takenAtMs: number): Promise<Deleted> {
  const hash = createHash("sha256");
  const threads = new Set<string>();
  const users = new Set<string>();
  let before: string | null = null;
  let end: unknown = null;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    if (end !== null) throw new BadBackup(path, "there is something behind its end");
    const value = parsed(path, line);
    if (before === null && value["type"] !== FIRST.type)
      throw new BadBackup(path, "it is no file of deletions");
    if (before === null && value["version"] !== FIRST.version)
      throw new BadBackup(path, "a later version wrote it");
    if (value["type"] === "end") {
      end = value["sha256"];
      continue;
    }
    hash.update(`${line}\n`);
    if (before !== null) {
      const { kind, slug, id, atMs } = deletionKind.read(value, path);
      const isLater = atMs >= takenAtMs - CLOCKS_DIFFER_MS;
      if (isLater && kind === "thread") threads.add(id);
      else if (isLater) users.add(`${slug} ${id}`);
    }
    before = line;
  }
  if (end === null) throw new BadBackup(path, "it is cut");
  if (end !== hash.digest("hex")) throw new BadBackup(path, "it was changed");
  return { threads, users };
}

function parsed(path: string, line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch (cause) {
    throw new BadBackup(path, "a line of it is no JSON", { cause });
  }
  throw new BadBackup(path, "a line of it is no object");
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
      const names = record.names.filter(({ uid }) => !threads.has(uid));
      return names.length === record.names.length ? record : { ...record, names };
    }
    case "stats": {
      const { speakers } = record;
      const left = speakers?.filter((userId) => !users.has(`${record.slug} ${userId}`));
      return left === undefined || left.length === speakers?.length ? record : { ...record, speakers: left };
    }
    case "channel":
    case "address":
    case "operator":
    case "audit":
    case "moved":
      return record;
  }
}
