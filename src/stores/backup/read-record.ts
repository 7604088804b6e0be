import type { MessageClaim } from "../../domain/threads/message-claim.ts";
import { UnreadableRecord } from "../../store.ts";
import type { ThreadEntry } from "../../store/users.ts";
import {
  check,
  isFlag,
  isNumber,
  isObject,
  isText,
  listOf,
  mapOf,
  nullable,
  optional,
  readerOf,
  shape,
} from "../checks.ts";
import type { Fields, Reader } from "../checks.ts";
import { readChannel } from "../records/channel-record.ts";
import { documentKind, pageKind, sourceKind } from "../records/knowledge-records.ts";
import { auditKind, operatorKind } from "../records/operator-records.ts";
import {
  areRenamed,
  isUser,
  isThreadState,
  readCatalog,
  readMessage,
  readRun,
  readRunSummary,
  readUserMessage,
} from "../records/records.ts";
import type { BackupRecord, BackupUser, KeptPart, ToldOfThread } from "./records.ts";

type Type = BackupRecord["type"];
type Of<T extends Type> = Extract<BackupRecord, { type: T }>;

/** Reads a line of a backup as a record; throws UnreadableRecord. */
export function readRecord(value: unknown, place: string): BackupRecord {
  const type = isObject(value) ? value["type"] : undefined;
  if (!isType(type)) throw new UnreadableRecord("line", place, "its type is not known");
  return READERS[type](value, place);
}

function isType(type: unknown): type is Type {
  return typeof type === "string" && Object.hasOwn(READERS, type);
}

const isList = check("list", (value): value is unknown[] => Array.isArray(value));
const readList = readerOf("list", isList);
const isPart = shape<KeptPart>({ runId: isText, nth: isNumber, text: isText });
const isClaim = shape<MessageClaim>({ clientMessageId: isText, runId: isText, textHash: isText });
const isName = shape<ThreadEntry>({ threadId: isText, uid: isText, createdAtMs: isNumber });
const isSpent = shape<BackupUser["spent"][number]>({ day: isText, tokens: isNumber });
const isEvent = shape<ToldOfThread["waiting"][number]>({ nth: isText, endpoint: isText, text: isText });

const listsOfThread = {
  messagesFrom: isNumber,
  runsFrom: isNumber,
  parts: listOf(isPart),
  claims: listOf(isClaim),
};
const recordsOfThread = { messages: eachBy(readMessage), runs: eachBy(readRunSummary) };

const READERS: { [T in Type]: Reader<BackupRecord> } = {
  channel: lineOf("channel", {}, { channel: readChannel }),
  address: lineOf("address", { address: isText }, {}),
  operator: lineOf("operator", {}, { operator: operatorKind.read }),
  audit: lineOf("audit", { nth: isNumber }, { entry: auditKind.read }),
  stats: lineOf(
    "stats",
    {
      slug: isText,
      day: isText,
      counts: mapOf(isNumber),
      visitors: isNumber,
      speakers: optional(listOf(isText)),
    },
    {},
  ),
  source: lineOf("source", { slug: isText }, { source: sourceKind.read }),
  page: lineOf(
    "page",
    { slug: isText, source: isText },
    { page: pageKind.read, document: documentKind.read },
  ),
  names: lineOf("names", { slug: isText, userId: isText, names: listOf(isName) }, {}),
  user: lineOf(
    "user",
    {
      slug: isText,
      user: isUser,
      createdAtMs: isNumber,
      nth: isNumber,
      spent: listOf(isSpent),
      revocations: optional(isNumber),
      contentKeys: optional(mapOf(isText)),
    },
    {},
  ),
  token: lineOf(
    "token",
    {
      slug: isText,
      tokenHash: isText,
      userId: isText,
      snapshot: isText,
      expiresAtMs: isNumber,
      revocations: optional(isNumber),
      endsAtMs: optional(isNumber),
      renamed: optional(areRenamed),
    },
    {},
  ),
  moved: lineOf("moved", { uid: isText }, {}),
  piece: lineOf("piece", { uid: isText, first: isFlag, ...listsOfThread }, recordsOfThread),
  thread: lineOf(
    "thread",
    {
      uid: isText,
      first: isFlag,
      slug: isText,
      createdAtMs: nullable(isNumber),
      rev: isNumber,
      fence: nullable(isText),
      state: isThreadState,
      snapshot: nullable(isText),
      dueAtMs: nullable(isNumber),
      hidden: optional(isText),
      summarized: optional(isNumber),
      told: optional(shape<ToldOfThread>({ count: isNumber, waiting: listOf(isEvent) })),
      ...listsOfThread,
    },
    {
      ...recordsOfThread,
      catalog: readCatalog,
      run: (run, place) => (run === null ? null : readRun(run, place)),
      waiting: eachBy(readUserMessage),
    },
  ),
};

/**
 * Reads a line of this type. Each of its fields is in `fields`, or in `records`: what has a version of its own, and is read as
 * the stores read it.
 */
function lineOf<T extends Type, Inner extends keyof Of<T> = never>(
  type: T,
  fields: Fields<Omit<Of<T>, "type" | Inner>>,
  records: { [Name in Inner]: Reader<Of<T>[Name]> },
): Reader<BackupRecord> {
  const readFields = readerOf(`${type} of a backup`, shape(fields));
  const readers = Object.entries<Reader<unknown>>(records);
  return (value, place) => {
    const line: Record<string, unknown> = readFields(value, place);
    for (const [name, read] of readers) line[name] = read(line[name], place);
    // A cast: every field was checked.
    return line as unknown as BackupRecord;
  };
}

function eachBy<T>(read: Reader<T>): Reader<T[]> {
  return (list, place) => readList(list, place).map((one) => read(one, place));
}
