import { z } from "zod";
import type { HandedBack } from "../../../machines/person.ts";
import type { RunOutcome, Usage } from "../../../machines/run.ts";
import type { Attachment } from "../../domain/threads/attachments.ts";
import type { Attributes } from "../../domain/people/attributes.ts";
import type { FileType, KeptFile, MessageFile } from "../../domain/threads/files.ts";
import type { RenamedThread } from "../../domain/threads/renamed-threads.ts";
import type { Desk, HandOffRating, Note } from "../../domain/threads/desk.ts";
import type { AnswererChange, HowChanged } from "../../domain/threads/answerer-change.ts";
import type { HistorySummary } from "../../domain/threads/history-summary.ts";
import type { KeptText, RunLine } from "../../domain/threads/kept-text.ts";
import type {
  Again,
  Api,
  Message,
  NotedCall,
  PastCall,
  PastTurn,
  RunMove,
  RunRecord,
  Speaker,
  TurnItem,
} from "../../domain/threads/message.ts";
import type { PageTool } from "../../domain/channels/page-tool.ts";
import type { User } from "../../domain/people/user.ts";
import { historyItem } from "../../protocol/history.ts";
import { deltaLine, doneLine, errorCode, errorLine, stepLine, toolCallLine } from "../../protocol/lines.ts";
import type { TerminalLine } from "../../protocol/lines.ts";
import { threadState } from "../../protocol/threads.ts";
import type { ThreadState } from "../../protocol/threads.ts";
import { channelKind } from "./channel-record.ts";
import type { Check, RecordStep } from "../checks.ts";
import {
  byType,
  checkOf,
  defaulted,
  either,
  isFlag,
  isNumber,
  isObject,
  isText,
  kindOf,
  listKindOf,
  listOf,
  literal,
  mapOf,
  nullable,
  oneOf,
  optional,
  readerOf,
  shape,
} from "../checks.ts";
import { documentKind, pageKind, sourceKind } from "./knowledge-records.ts";
import { auditKind, operatorKind } from "./operator-records.ts";
import type {
  StoredFeedback,
  StoredMessage,
  StoredRun,
  StoredSummary,
  StoredUserMessage,
} from "./stored-records.ts";

/** What messages and runs must be when they are read back; both stores keep them as JSON. */

const isApi = oneOf<Api>({ server: true, widget: true });
const isOutcome = oneOf<RunOutcome>({
  done: true,
  failed: true,
  cancelled: true,
  expired: true,
  superseded: true,
});
const isKept = shape<KeptText>({ parts: isNumber, chars: isNumber });

const isLine = byType<RunLine>({
  delta: checkOf(deltaLine.extend({ kept: z.number().exactOptional() })),
  step: checkOf(stepLine),
});

const isTerminal = byType<TerminalLine>({
  tool_call: checkOf(toolCallLine),
  done: checkOf(doneLine),
  // Of stored runs: a deleted thread has none.
  error: checkOf(errorLine.extend({ code: errorCode.exclude(["deleted"]).exactOptional() })),
});

const isAttachments = listOf(
  shape<Attachment>({
    name: optional(isText),
    url: optional(isText),
    type: optional(isText),
    chars: optional(isNumber),
  }),
);

const isTrue = checkOf(z.literal(true));

/** Of any type: one that this version takes no more is shown all the same. */
const FILE = { id: isText, name: isText, type: isText as Check<FileType>, bytes: isNumber };
const isFiles = optional(listOf(shape<MessageFile>(FILE)));

const isMessage = shape<StoredMessage>({
  id: isText,
  role: oneOf<Message["role"]>({ user: true, assistant: true }),
  content: isText,
  createdAtMs: isNumber,
  runId: isText,
  clientMessageId: optional(isText),
  attachments: optional(isAttachments),
  files: isFiles,
  steps: optional(listOf(checkOf(stepLine.omit({ type: true })))),
  calls: optional(listOf(shape<PastCall>({ tool: isText, arguments: isText, result: nullable(isText) }))),
  turns: optional(
    listOf(
      shape<PastTurn>({
        by: isText,
        extra: optional(isObject),
        calls: listOf(shape<PastTurn["calls"][number]>({ id: isText, extra: optional(isObject) })),
      }),
    ),
  ),
  author: optional(checkOf(historyItem.shape.author.unwrap())),
  replaces: optional(isText),
  answers: optional(isText),
  handledBy: optional(literal("person" as const)),
  handedBack: optional(
    shape<HandedBack>({
      name: isText,
      how: oneOf<HandedBack["how"]>({ returned: true, closed: true }),
      note: nullable(isText),
    }),
  ),
  outcome: optional(isOutcome),
  model: optional(isText),
  error: optional(checkOf(historyItem.shape.error.unwrap())),
  feedback: optional(
    shape<StoredFeedback>({
      rating: oneOf<StoredFeedback["rating"]>({ up: true, down: true }),
      comment: optional(isText),
      sealed: optional(isText),
      atMs: isNumber,
    }),
  ),
  aside: optional(literal(true)),
  kept: optional(isKept),
  sealed: optional(isText),
  chars: optional(isNumber),
});

const isAttributes: Check<Attributes> = mapOf(either(isText, either(isNumber, isFlag)));

const isSpeaker = shape<Speaker>({
  displayName: nullable(isText),
  page: nullable(isText),
  customerContext: nullable(mapOf(either(isText, either(isNumber, isFlag)))),
  locale: optional(isText),
  attributes: optional(isAttributes),
});

export const isUser = shape<User>({
  userId: isText,
  externalId: nullable(isText),
  displayName: nullable(isText),
  attributes: optional(isAttributes),
  blocked: isFlag,
  whitelisted: isFlag,
});

export const areRenamed = listOf(shape<RenamedThread>({ said: isText, stored: isText }));

const isAgain = shape<Again>({ replaces: isText, answers: isText });

export const isUserMessage = shape<StoredUserMessage>({
  runId: isText,
  api: isApi,
  text: isText,
  userId: isText,
  speaker: isSpeaker,
  saidAtMs: isNumber,
  clientMessageId: optional(isText),
  attachments: optional(isAttachments),
  files: isFiles,
  replaces: optional(isText),
  again: optional(isAgain),
  traceparent: optional(isText),
  address: optional(isText),
  sealed: optional(isText),
  sealedHash: optional(isText),
});

type Spoken = Extract<TurnItem, { type: "assistant" }>;

const isTurnItem = byType<TurnItem>({
  assistant: shape<Spoken>({
    type: literal("assistant"),
    text: isText,
    calls: listOf(
      shape<NotedCall>({
        callId: isText,
        offeredName: isText,
        arguments: isText,
        modelCallId: optional(isText),
        extra: optional(isObject),
      }),
    ),
    by: optional(isText),
    isOfChain: optional(literal(true)),
    extra: optional(isObject),
  }),
  instruction: shape<Extract<TurnItem, { type: "instruction" }>>({
    type: literal("instruction"),
    text: isText,
  }),
  result: shape<Extract<TurnItem, { type: "result" }>>({
    type: literal("result"),
    callId: isText,
    text: isText,
    isError: isFlag,
  }),
});

const isPath = listOf(shape<RunMove>({ atMs: isNumber, event: isText, state: isText, said: listOf(isText) }));

const isRun = shape<StoredRun>({
  runId: isText,
  api: isApi,
  userId: isText,
  address: optional(isText),
  speaker: isSpeaker,
  saidAtMs: isNumber,
  activeMs: isNumber,
  turns: listOf(isTurnItem),
  lines: listOf(isLine),
  kept: optional(isKept),
  streamFrom: isNumber,
  terminal: nullable(isTerminal),
  answered: nullable(shape<NonNullable<RunRecord["answered"]>>({ callId: isText, tool: isText })),
  decided: optional(
    listOf(shape<NonNullable<RunRecord["decided"]>[number]>({ callId: isText, approved: isFlag })),
  ),
  again: optional(isAgain),
  outcome: nullable(isOutcome),
  // Only for the console's chart: a run is complete without it.
  path: defaulted(isPath, () => []),
  reply: optional(isText),
  sealed: optional(isText),
  sealedTerminal: optional(isText),
  trace: optional(
    shape<NonNullable<RunRecord["trace"]>>({
      segment: isText,
      parent: optional(isText),
      person: optional(literal(true)),
    }),
  ),
});

const isRunSummary = shape<StoredSummary>({
  runId: isText,
  saidAtMs: isNumber,
  outcome: nullable(isOutcome),
  path: defaulted(isPath, () => []),
  terminal: nullable(isTerminal),
  sealedTerminal: optional(isText),
});

function isSealed(record: unknown): boolean {
  return isObject(record) && (record["sealed"] !== undefined || record["sealedTerminal"] !== undefined);
}

/** Version 2: contents may be encrypted. An older version would show such contents as empty. */
const withSealed: RecordStep = {
  up: (record) => record,
  down: (record) => (isSealed(record) || isSealed(record["feedback"]) ? null : record),
};

/** Version 3: a run's text may be that of its message. An older version would show such a run without text. */
const withReply: RecordStep = {
  up: (record) => record,
  down: (record) => (isObject(record) && record["reply"] !== undefined ? null : record),
};

const isPageTool = shape<PageTool>({
  name: isText,
  description: optional(isText),
  inputSchema: optional(
    shape<NonNullable<PageTool["inputSchema"]>>({
      type: literal("object"),
      properties: optional(isObject),
      required: optional(listOf(isText)),
    }),
  ),
});

export const messageKind = kindOf("message", isMessage, [withSealed]);
export const waitingKind = kindOf("waiting message", isUserMessage, [withSealed]);
export const runKind = kindOf("run", isRun, [withSealed, withReply]);
export const summaryKind = kindOf("run in short form", isRunSummary, [withSealed]);
export const catalogKind = listKindOf("catalog", isPageTool);
export const historySummaryKind = kindOf(
  "summary of the history",
  shape<HistorySummary>({
    text: isText,
    upTo: isNumber,
    atMs: isNumber,
    model: isText,
    usage: nullable(shape<Usage>({ input: isNumber, output: isNumber })),
  }),
);

export const deskKind = kindOf(
  "desk",
  shape<Desk>({
    rev: isNumber,
    labels: listOf(isText),
    snoozed: nullable(shape<NonNullable<Desk["snoozed"]>>({ untilMs: isNumber, sinceMs: isNumber })),
    notes: isNumber,
    address: optional(isText),
    ratings: optional(
      listOf(
        shape<HandOffRating>({
          epoch: isNumber,
          score: isNumber,
          comment: optional(isText),
          by: optional(isText),
          queue: optional(isText),
          atMs: isNumber,
        }),
      ),
    ),
    shownTo: optional(isNumber),
    toldUnread: optional(isNumber),
  }),
);
export const answererKind = kindOf(
  "change of who answers",
  shape<AnswererChange>({
    epoch: isNumber,
    how: oneOf<HowChanged>({
      asked: true,
      cancelled: true,
      expired: true,
      taken: true,
      unanswered: true,
      queued: true,
      returned: true,
      closed: true,
    }),
    atMs: isNumber,
    by: optional(isText),
    shownAs: optional(isText),
    queue: optional(isText),
    reason: optional(isText),
  }),
);
export const fileKind = kindOf(
  "file",
  shape<KeptFile>({ ...FILE, text: optional(isText), isCut: optional(isTrue), isOutside: optional(isTrue) }),
);
export const noteKind = kindOf("note", shape<Note>({ id: isText, by: isText, text: isText, atMs: isNumber }));

/** The kinds of both stores. A change of a shape needs a step: test/versions/shapes.json has every shape. */
export const sharedKinds = [
  channelKind,
  messageKind,
  waitingKind,
  runKind,
  summaryKind,
  catalogKind,
  historySummaryKind,
  deskKind,
  noteKind,
  answererKind,
  fileKind,
  operatorKind,
  auditKind,
  sourceKind,
  pageKind,
  documentKind,
];

export const readMessage = messageKind.read;
export const readUserMessage = waitingKind.read;
export const readRun = runKind.read;
export const readRunSummary = summaryKind.read;
export const readCatalog = catalogKind.read;
export const readHistorySummary = historySummaryKind.read;
export const readDesk = deskKind.read;
export const readNote = noteKind.read;
export const readFile = fileKind.read;
export const readAnswererChange = answererKind.read;

export const isThreadState: Check<ThreadState> = checkOf(threadState);
export const readState = readerOf("state", isThreadState);

const areImages = listOf(isText);

/** The images of ThreadStore.keepImages, from JSON. Damaged images count as lost: no thread should wait for them. */
export function imagesFrom(json: string | null): string[] {
  try {
    const images: unknown = json === null ? [] : JSON.parse(json);
    return areImages(images) ? images : [];
  } catch {
    return [];
  }
}

export const readAttributes = readerOf("attributes", isAttributes);
export const readText = readerOf("text", isText);
export const readNumber = readerOf("number", isNumber);
