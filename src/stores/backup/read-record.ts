import type { MessageClaim } from "../../domain/message-claim.ts";
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
import type { Fields } from "../checks.ts";
import { readChannel } from "../channel-record.ts";
import { auditKind, operatorKind } from "../operator-records.ts";
import {
  areRenamed,
  isUser,
  isThreadState,
  readCatalog,
  readMessage,
  readRun,
  readRunSummary,
  readUserMessage,
} from "../records.ts";
import type { BackupRecord, BackupStats, KeptPart, ThreadLists, ToldOfThread } from "./records.ts";

/** Reads a line of a backup as a record; throws UnreadableRecord. The readers of the stores check what is in it. */
export function readRecord(value: unknown, place: string): BackupRecord {
  switch (isObject(value) ? value["type"] : undefined) {
    case "channel": {
      const { channel } = readChannelLine(value, place);
      return { type: "channel", channel: readChannel(channel, place) };
    }
    case "address":
      return { type: "address", ...readAddress(value, place) };
    case "operator": {
      const { operator } = readOperatorLine(value, place);
      return { type: "operator", operator: operatorKind.read(operator, place) };
    }
    case "audit": {
      const { nth, entry } = readAuditLine(value, place);
      return { type: "audit", nth, entry: auditKind.read(entry, place) };
    }
    case "stats":
      return { type: "stats", ...readStats(value, place) };
    case "names":
      return { type: "names", ...readNames(value, place) };
    case "user":
      return { type: "user", ...readUser(value, place) };
    case "token":
      return { type: "token", ...readToken(value, place) };
    case "moved":
      return { type: "moved", ...readMoved(value, place) };
    case "piece": {
      const line = readPiece(value, place);
      return { ...line, type: "piece", ...listsOf(line, place) };
    }
    default:
      return readThread(value, place);
  }
}

function readThread(value: unknown, place: string): BackupRecord {
  const line = readThreadLine(value, place);
  return {
    ...line,
    ...listsOf(line, place),
    type: "thread",
    catalog: readCatalog(line.catalog, place),
    run: line.run === null ? null : readRun(line.run, place),
    waiting: line.waiting.map((message) => readUserMessage(message, place)),
  };
}

/** A line before the records in it are checked. */
interface Lists {
  messagesFrom: number;
  messages: unknown[];
  runsFrom: number;
  runs: unknown[];
  parts: KeptPart[];
  claims: MessageClaim[];
}

function listsOf(line: Lists, place: string): ThreadLists {
  return {
    messagesFrom: line.messagesFrom,
    messages: line.messages.map((message) => readMessage(message, place)),
    runsFrom: line.runsFrom,
    runs: line.runs.map((run) => readRunSummary(run, place)),
    parts: line.parts,
    claims: line.claims,
  };
}

const isAnything = check("anything", (value): value is unknown => value !== undefined);
const isAnyList = listOf(isAnything);

const lists = {
  messagesFrom: isNumber,
  messages: isAnyList,
  runsFrom: isNumber,
  runs: isAnyList,
  parts: listOf(shape<KeptPart>({ runId: isText, nth: isNumber, text: isText })),
  claims: listOf(shape<MessageClaim>({ clientMessageId: isText, runId: isText, textHash: isText })),
};

const reader = <T>(kind: string, fields: Fields<T>) => readerOf<T>(`${kind} of a backup`, shape<T>(fields));

const readChannelLine = reader<{ channel: Record<string, unknown> }>("channel", { channel: isObject });
const readOperatorLine = reader<{ operator: Record<string, unknown> }>("operator", { operator: isObject });
const readAuditLine = reader<{ nth: number; entry: Record<string, unknown> }>("entry of the audit", {
  nth: isNumber,
  entry: isObject,
});
const readStats = reader<Omit<BackupStats, "type">>("statistics", {
  slug: isText,
  day: isText,
  counts: mapOf(isNumber),
  visitors: isNumber,
  speakers: optional(listOf(isText)),
});
const readAddress = reader<{ address: string }>("address", { address: isText });
const readMoved = reader<{ uid: string }>("moved thread", { uid: isText });
const readNames = reader<{ slug: string; userId: string; names: ThreadEntry[] }>("names", {
  slug: isText,
  userId: isText,
  names: listOf(shape<ThreadEntry>({ threadId: isText, uid: isText, createdAtMs: isNumber })),
});
const readUser = reader<Omit<Extract<BackupRecord, { type: "user" }>, "type">>("user", {
  slug: isText,
  user: isUser,
  createdAtMs: isNumber,
  nth: isNumber,
  spent: listOf(shape<{ day: string; tokens: number }>({ day: isText, tokens: isNumber })),
  revocations: optional(isNumber),
  contentKeys: optional(mapOf(isText)),
});
const readToken = reader<Omit<Extract<BackupRecord, { type: "token" }>, "type">>("token", {
  slug: isText,
  tokenHash: isText,
  userId: isText,
  snapshot: isText,
  expiresAtMs: isNumber,
  revocations: optional(isNumber),
  endsAtMs: optional(isNumber),
  renamed: optional(areRenamed),
});
const readPiece = reader<{ uid: string; first: boolean } & Lists>("thread", {
  uid: isText,
  first: isFlag,
  ...lists,
});
type ThreadLine = Omit<
  Extract<BackupRecord, { type: "thread" }>,
  "type" | "catalog" | "run" | "waiting" | keyof Lists
> &
  Lists & { catalog: unknown; run: unknown; waiting: unknown[] };
const readThreadLine = reader<ThreadLine>("thread", {
  uid: isText,
  first: isFlag,
  slug: isText,
  createdAtMs: nullable(isNumber),
  rev: isNumber,
  fence: nullable(isText),
  state: isThreadState,
  snapshot: nullable(isText),
  dueAtMs: nullable(isNumber),
  catalog: isAnything,
  run: isAnything,
  waiting: isAnyList,
  told: optional(
    shape<ToldOfThread>({
      count: isNumber,
      waiting: listOf(
        shape<ToldOfThread["waiting"][number]>({ nth: isText, endpoint: isText, text: isText }),
      ),
    }),
  ),
  ...lists,
});
