import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { codeOf, messageOf } from "../../errors.ts";
import { isNumber, isText, literal, oneOf, readerOf, shape } from "../checks.ts";
import { count, NOTHING } from "./records.ts";
import type { BackupRecord, Counts } from "./records.ts";
import { readRecord } from "./read-record.ts";
import type { BackupSource } from "./source.ts";

/**
 * The file of a backup: gzipped lines of JSON. The first line says what it is, the last one what it must hold: the
 * number of records, and the SHA-256 of every byte before that line. So a file that is truncated or changed is
 * recognized.
 */
export interface BackupHeader {
  type: "backup";
  /** The version of the file. */
  version: number;
  /** The format of the store that was copied. */
  format: number;
  /** The service that wrote it. */
  product: string;
  store: "embedded" | "redis";
  takenAtMs: number;
}

export interface BackupEnd extends Counts {
  type: "end";
  records: number;
  sha256: string;
}

/**
 * Version 2 adds operators and the audit, 3 statistics and keys of users; a file without any of these is still of
 * version 1.
 */
const FILE_VERSION = 3;

/** The oldest version that can hold everything in the store. */
export async function fileVersionOf(
  source: Pick<BackupSource, "operators" | "audit" | "stats" | "isEncrypted">,
): Promise<number> {
  if (await source.isEncrypted()) return 3;
  for await (const days of source.stats()) if (days.length > 0) return 3;
  if ((await source.operators()).length > 0) return 2;
  for await (const entries of source.audit()) if (entries.length > 0) return 2;
  return 1;
}

/** The file is not a backup, or damaged, or of a later version. */
export class BadBackup extends Error {
  constructor(path: string, fact: string, options?: { cause: unknown }) {
    super(`Cannot read ${path}: ${fact}`, options);
    this.name = "BadBackup";
  }
}

const readHeader = readerOf(
  "first line",
  shape<BackupHeader>({
    type: literal("backup"),
    version: isNumber,
    format: isNumber,
    product: isText,
    store: oneOf<BackupHeader["store"]>({ embedded: true, redis: true }),
    takenAtMs: isNumber,
  }),
);

const readEnd = readerOf(
  "last line",
  shape<BackupEnd>({
    type: literal("end"),
    channels: isNumber,
    users: isNumber,
    threads: isNumber,
    tokens: isNumber,
    messages: isNumber,
    records: isNumber,
    sha256: isText,
  }),
);

/** The fastest: most of what compression saves is repetition in the texts. */
const COMPRESSION = 1;
const CHUNK_CHARS = 64 * 1024;
const NEWLINE = 10;

/** Writes `PATH.partial`, and renames it when it is complete and on the disk. Only its owner can read it. */
export async function writeBackup(
  path: string,
  header: Omit<BackupHeader, "type" | "version"> & { version?: number },
  records: AsyncIterable<BackupRecord>,
  onRecord: (counts: Counts) => void = () => {},
): Promise<BackupEnd> {
  const partial = `${path}.partial`;
  const hash = createHash("sha256");
  let end: BackupEnd | undefined;

  async function* chunks(): AsyncIterable<string> {
    const counts = { ...NOTHING };
    let written = 0;
    let chunk = lineOf({ type: "backup", version: FILE_VERSION, ...header } satisfies BackupHeader);
    for await (const record of records) {
      chunk += lineOf(record);
      written += 1;
      count(counts, record);
      onRecord(counts);
      if (chunk.length < CHUNK_CHARS) continue;
      hash.update(chunk);
      yield chunk;
      chunk = "";
    }
    hash.update(chunk);
    end = { type: "end", ...counts, records: written, sha256: hash.digest("hex") };
    yield chunk + lineOf(end);
  }

  try {
    const file = createWriteStream(partial, { mode: 0o600, flush: true });
    await pipeline(Readable.from(chunks()), createGzip({ level: COMPRESSION }), file);
    await rename(partial, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  if (end === undefined) throw new Error(`Cannot write ${path}: it has no end`);
  return end;
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** A rename is on the disk when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** An open backup: its first line, then its records; the end, once all records were read and verified. */
export interface BackupReader {
  header: BackupHeader;
  records: AsyncIterable<BackupRecord>;
  /** Bytes of the file that were read, and its size. */
  progress(): { read: number; size: number };
  /** Undefined while records are left. */
  end(): BackupEnd | undefined;
}

/** Throws BadBackup, here or from `records`, as soon as the file is not what this version or an earlier one wrote. */
export async function readBackup(path: string, format: number): Promise<BackupReader> {
  const bytes = (await stat(path)).size;
  const source = createReadStream(path, { highWaterMark: 256 * 1024 });
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  // Its error is handled where the stream is read, which throws it too.
  const piped = pipeline(source, gunzip);
  piped.catch(() => {});
  const lines = linesOf(gunzip);
  const hash = createHash("sha256");
  let end: BackupEnd | undefined;

  const bad = (fact: string, cause?: unknown) => new BadBackup(path, fact, { cause });

  async function nextLine(): Promise<Buffer | null> {
    try {
      const { value, done } = await lines.next();
      return done ? null : value;
    } catch (cause) {
      if (codeOf(cause)?.startsWith("Z_")) throw bad(`it is cut or changed (${messageOf(cause)})`, cause);
      throw cause;
    }
  }

  async function readFirst(): Promise<BackupHeader> {
    const notOne = "it is no backup of a store";
    const line = await nextLine().catch((cause: unknown) => {
      throw cause instanceof BadBackup ? bad(notOne, cause) : cause;
    });
    const value = line && parsed(line);
    if (!line || !isBackup(value)) throw bad(notOne);
    const { version, product } = value;
    if (version > FILE_VERSION || Number(value["format"]) > format) {
      throw bad(
        `it was written by a later version of the service (${String(product)}): restore it with that one`,
      );
    }
    hash.update(line);
    return orBad(() => readHeader(value, "line 1"));
  }

  /** Turns an error of a record's reader into BadBackup. */
  function orBad<T>(read: () => T): T {
    try {
      return read();
    } catch (cause) {
      throw bad(`it is cut or changed (${messageOf(cause)})`, cause);
    }
  }

  async function* records(): AsyncIterable<BackupRecord> {
    const counts = { ...NOTHING };
    for (let read = 0; ; read++) {
      const line = await nextLine();
      if (line === null) throw bad("it is cut or changed (it has no end)");
      const value = parsed(line);
      if (isEnd(value)) {
        const found = orBad(() => readEnd(value, "the end"));
        if (found.sha256 !== hash.digest("hex"))
          throw bad("it is cut or changed (its checksum does not fit)");
        // A cast: TypeScript types the keys of any object as strings.
        const counted = Object.entries(counts).every(
          ([name, number]) => number === found[name as keyof Counts],
        );
        if (!counted || found.records !== read) throw bad("it is cut or changed (its counts do not fit)");
        if ((await nextLine()) !== null || gunzip.bytesWritten !== bytes) {
          throw bad("it is cut or changed (something follows its end)");
        }
        end = found;
        return;
      }
      hash.update(line);
      const record = orBad(() => readRecord(value, `line ${read + 2}`));
      count(counts, record);
      yield record;
    }
  }

  return {
    header: await readFirst(),
    records: records(),
    progress: () => ({ read: source.bytesRead, size: bytes }),
    end: () => end,
  };
}

/** Each line with its newline; a rest without one does not parse. */
async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let begun: Buffer[] = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, at + 1);
      yield begun.length === 0 ? piece : Buffer.concat([...begun, piece]);
      begun = [];
      from = at + 1;
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
  }
  if (begun.length > 0) yield Buffer.concat(begun);
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    return undefined;
  }
}

function isBackup(value: unknown): value is Record<string, unknown> & { version: number } {
  return isTyped(value, "backup") && typeof value["version"] === "number";
}

function isEnd(value: unknown): boolean {
  return isTyped(value, "end");
}

function isTyped(value: unknown, type: string): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && "type" in value && value.type === type;
}
