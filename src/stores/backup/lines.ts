import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { codeOf, messageOf } from "../../errors.ts";
import { UnreadableRecord } from "../../store.ts";
import { isObject } from "../checks.ts";
import { jsonValue } from "../records/json-value.ts";

/**
 * A file of lines of JSON. The first line says what it is, the last one has the SHA-256 of every byte before it: so a file
 * that is truncated or changed is recognized.
 */
type Line = Record<string, unknown>;

/** The file is another one, or damaged, or of a later version. */
export class BadFile extends Error {
  constructor(path: string, fact: string, options?: { cause: unknown }) {
    super(`Cannot read ${path}: ${fact}`, options);
    this.name = "BadFile";
  }
}

/** The fastest: most of what compression saves is repetition in the texts. */
const COMPRESSION = 1;
const CHUNK_CHARS = 64 * 1024;
const READ_BYTES = 256 * 1024;
const NEWLINE = 10;

interface Writing<T> {
  isZipped: boolean;
  first: object;
  onLine: (line: T) => void;
  /** What the last line says beside the SHA-256; called when all lines are written. */
  totals?: () => object;
}

/**
 * Writes `PATH.partial`, and renames it when it is complete and on the disk. Only its owner can read it. Resolves to the
 * SHA-256.
 */
export async function writeLines<T extends object>(
  path: string,
  lines: AsyncIterable<T>,
  { isZipped, first, onLine, totals = () => ({}) }: Writing<T>,
): Promise<string> {
  const partial = `${path}.partial`;
  const hash = createHash("sha256");
  let sha256 = "";

  async function* chunks(): AsyncIterable<string> {
    let chunk = textOf(first);
    for await (const line of lines) {
      onLine(line);
      chunk += textOf(line);
      if (chunk.length < CHUNK_CHARS) continue;
      hash.update(chunk);
      yield chunk;
      chunk = "";
    }
    sha256 = hash.update(chunk).digest("hex");
    yield chunk + textOf({ type: "end", ...totals(), sha256 });
  }

  try {
    const zip = isZipped ? [createGzip({ level: COMPRESSION })] : [];
    const file = createWriteStream(partial, { mode: 0o600, flush: true });
    await pipeline([Readable.from(chunks()), ...zip, file]);
    await rename(partial, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return sha256;
}

function textOf(line: object): string {
  return `${JSON.stringify(line)}\n`;
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

interface Reading<T, End> {
  isZipped: boolean;
  /** What the first line says of itself, and the kind of file in words. */
  type: string;
  what: string;
  /** May throw UnreadableRecord, as `readEnd` may. */
  read: (line: unknown, place: string) => T;
  readEnd: (line: Line) => End;
}

export interface LinesReader<T, End> {
  first: Line;
  /** Between the first line and the last. */
  lines: AsyncIterable<T>;
  /** The last line; undefined until all lines were read, and the file is verified. */
  end(): End | undefined;
  /** Bytes of the file that were read, and its size. */
  progress(): { read: number; size: number };
}

/** Throws BadFile, here or from `lines`. */
export async function readLines<T, End>(
  path: string,
  { isZipped, type, what, read, readEnd }: Reading<T, End>,
): Promise<LinesReader<T, End>> {
  const { size } = await stat(path);
  const file = createReadStream(path, { highWaterMark: READ_BYTES });
  const unzip = isZipped ? createGunzip({ chunkSize: READ_BYTES }) : null;
  // Its error is handled where the stream is read, which throws it too.
  if (unzip) pipeline(file, unzip).catch(() => {});
  const texts = textsOf(unzip ?? file);
  const hash = createHash("sha256");
  let end: End | undefined;

  async function nextText(): Promise<Buffer | null> {
    try {
      const { value, done } = await texts.next();
      return done ? null : value;
    } catch (cause) {
      if (codeOf(cause)?.startsWith("Z_")) throw damaged(path, messageOf(cause), cause);
      throw cause;
    }
  }

  async function readFirst(): Promise<Line> {
    const isNone = (cause?: unknown) => new BadFile(path, `it is no ${what}`, { cause });
    const text = await nextText().catch((cause: unknown) => {
      throw cause instanceof BadFile ? isNone(cause) : cause;
    });
    const line = text && jsonValue(text.toString());
    if (!text || !isObject(line) || line["type"] !== type) throw isNone();
    hash.update(text);
    return line;
  }

  async function* readRest(): AsyncIterable<T> {
    for (let nth = 2; ; nth++) {
      const text = await nextText();
      if (text === null) throw damaged(path, "it has no end");
      const line = jsonValue(text.toString());
      if (isObject(line) && line["type"] === "end") {
        if (line["sha256"] !== hash.digest("hex")) throw damaged(path, "its checksum does not fit");
        const hasMore = (await nextText()) !== null || (unzip !== null && unzip.bytesWritten !== size);
        if (hasMore) throw damaged(path, "something follows its end");
        end = readLine(path, () => readEnd(line));
        return;
      }
      hash.update(text);
      yield readLine(path, () => read(line, `line ${nth}`));
    }
  }

  return {
    first: await readFirst(),
    lines: readRest(),
    end: () => end,
    progress: () => ({ read: file.bytesRead, size }),
  };
}

export function damaged(path: string, fact: string, cause?: unknown): BadFile {
  return new BadFile(path, `it is cut or changed (${fact})`, { cause });
}

/** Turns the error of a line's reader into BadFile. */
export function readLine<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof UnreadableRecord) throw damaged(path, cause.message, cause);
    throw cause;
  }
}

/** Each line with its newline; a rest without one does not parse. */
async function* textsOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
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
