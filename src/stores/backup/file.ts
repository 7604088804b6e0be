import { isDeepStrictEqual } from "node:util";
import { isNumber, isText, literal, oneOf, readerOf, shape } from "../checks.ts";
import { STORE_FORMAT } from "../format.ts";
import { BadFile, damaged, readLine, readLines, writeLines } from "./lines.ts";
import type { LinesReader } from "./lines.ts";
import { count, NOTHING } from "./records.ts";
import type { BackupRecord, Counts } from "./records.ts";
import { readRecord } from "./read-record.ts";

/** The file of a backup: gzipped lines of JSON (lines.ts). This is the first one, and BackupEnd the last. */
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

/** Version 2 added operators and the audit, 3 statistics and keys of users. */
const FILE_VERSION = 3;

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

export async function writeBackup(
  path: string,
  header: Pick<BackupHeader, "product" | "store" | "takenAtMs">,
  records: AsyncIterable<BackupRecord>,
  onRecord: (counts: Counts) => void = () => {},
): Promise<BackupEnd> {
  const totals = { ...NOTHING, records: 0 };
  const sha256 = await writeLines(path, records, {
    isZipped: true,
    first: { type: "backup", version: FILE_VERSION, format: STORE_FORMAT, ...header } satisfies BackupHeader,
    onLine(record) {
      totals.records += 1;
      count(totals, record);
      onRecord(totals);
    },
    totals: () => totals,
  });
  return { type: "end", ...totals, sha256 };
}

/** An open backup: its first line, and its records and end. */
export interface BackupReader extends LinesReader<BackupRecord, BackupEnd> {
  header: BackupHeader;
}

/** Throws BadFile, here or from `lines`, as soon as the file is not what this version or an earlier one wrote. */
export async function readBackup(path: string): Promise<BackupReader> {
  const totals = { ...NOTHING, records: 0 };
  const file = await readLines(path, {
    isZipped: true,
    type: "backup",
    what: "backup of a store",
    read(line, place) {
      const record = readRecord(line, place);
      totals.records += 1;
      count(totals, record);
      return record;
    },
    readEnd(line) {
      const end = readEnd(line, "the end");
      if (!isDeepStrictEqual(end, { ...end, ...totals })) throw damaged(path, "its counts do not fit");
      return end;
    },
  });
  const { version, format, product } = file.first;
  if (Number(version) > FILE_VERSION || Number(format) > STORE_FORMAT) {
    const by = `it was written by a later version of the service (${String(product)})`;
    throw new BadFile(path, `${by}: restore it with that one`);
  }
  return { ...file, header: readLine(path, () => readHeader(file.first, "line 1")) };
}
