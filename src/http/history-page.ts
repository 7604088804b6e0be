import type { Attachment } from "../domain/threads/attachments.ts";
import type { Feedback, KeptStep, Message } from "../domain/threads/message.ts";
import type { Threads } from "../threads/threads.ts";
import type { HttpAnswer } from "../listener.ts";
import { limitField } from "./endpoint.ts";
import type { Reads } from "./reads.ts";
import type { HistoryItem, HistoryPage } from "../protocol/history.ts";
import type { Source } from "../protocol/lines.ts";
import { jsonAnswer } from "./route.ts";
import { writePulled } from "./stream/pull.ts";

/** A page ends before it would be longer than this, so that its cost does not depend on the length of messages. */
export const PAGE_CHARS = 524_288;
/** Of the images that are kept with its messages. */
const PAGE_IMAGE_CHARS = 4_194_304;

/** Messages in a page of history without a `limit` (the spec, Limits). */
const PAGE_MESSAGES = 10;

export const EXAMPLE_PAGE: HistoryPage = {
  items: [
    { id: "1", role: "user", content: "Where is my order?", createdAt: 1_800_000_000_000 },
    {
      id: "2",
      role: "assistant",
      content: "It is on its way.",
      createdAt: 1_800_000_002_000,
      steps: [{ id: "find_order", phase: "done", text: "Looking for the order" }],
    },
  ],
};

export const pageFields = {
  limit: limitField(
    PAGE_MESSAGES,
    "How many messages at most; fewer where they are long: the first message of all has the id 1",
  ),
  before: {
    description: "Only messages older than this one; an unknown id gives an empty list",
    example: "12",
  },
} as const;

/** Where a page may be of all branches. */
export const branchesField = {
  branches: {
    description: "`1`: the items of all branches; those that are not shown have `otherBranch`",
    example: "1",
  },
} as const;

/** The page that the query of such an endpoint asks for. */
export function historyQuery({
  branches,
  ...page
}: HistoryQuery & { branches: string | null }): HistoryQuery {
  return branches === "1" ? { ...page, all: true } : page;
}

export interface HistoryQuery {
  limit: number;
  before: string | null;
  /** The items of all branches. */
  all?: true;
}

/** Longer answers are sent only as fast as they are read, and count as reads until they are sent. */
const SHORT_CHARS = 65_536;

type HistoryThreads = Pick<Threads, "history" | "keptText" | "attachmentAddresses">;

/** How a page is written: JSON, in which a message's text stands between two quotes. */
export interface HistoryShape {
  begin: string;
  end: string;
  /** What stands before and after a message's text. `addresses`: of its attachments, in order; null for one that is lost. */
  around(message: Message, addresses?: readonly (string | null)[]): { before: string; after: string };
}

const ITEMS: HistoryShape = {
  begin: '{"items":[',
  end: "]}",
  around(message, addresses) {
    const { id, role, content: _, ...rest } = itemOf(message, addresses);
    const before = `${JSON.stringify({ id, role }).slice(0, -1)},"content":"`;
    return { before, after: `",${JSON.stringify(rest).slice(1)}` };
  },
};

/** A page of a thread's history as an answer. Of long replies and images, memory holds only the part that is sent next. */
export async function historyAnswer(
  { threads, reads }: { threads: HistoryThreads; reads: Reads },
  uid: string,
  page: HistoryQuery,
  shape: HistoryShape = ITEMS,
): Promise<HttpAnswer> {
  const messages = await readPage({ threads, reads }, uid, page);
  const isLong = messages.some(({ kept, attachments }) => kept || attachments);
  const { status, headers } = jsonAnswer(200, null);
  if (isLong) {
    const pieces = piecesOf(messages, { threads, uid, shape });
    return { status, headers, stream: (outlet) => writePulled(outlet, pieces) };
  }
  const body = shape.begin + messages.map((message) => textOf(message, shape)).join(",") + shape.end;
  if (body.length <= SHORT_CHARS) return { status, headers, body };
  return { status, headers, stream: (outlet) => outlet.end(body) };
}

/** As `historyAnswer`, for what is written into another answer; without the replies of the run `but`, which it tells itself. */
export async function historyPieces(
  { threads, reads }: { threads: HistoryThreads; reads: Reads },
  uid: string,
  { shape, but, ...page }: HistoryQuery & { shape: HistoryShape; but: string | null },
): Promise<AsyncGenerator<string>> {
  const messages = await readPage({ threads, reads }, uid, page);
  const shown = messages.filter(({ role, runId, author }) => role === "user" || author || runId !== but);
  return piecesOf(shown, { threads, uid, shape });
}

async function readPage(
  { threads, reads }: { threads: Pick<Threads, "history">; reads: Reads },
  uid: string,
  page: HistoryQuery,
): Promise<Message[]> {
  return newestWithinImages(
    await reads.page(uid, () => threads.history(uid, { ...page, budgetChars: PAGE_CHARS })),
  );
}

function textOf(message: Message, shape: HistoryShape): string {
  const { before, after } = shape.around(message);
  return before + inString(message.content) + after;
}

function newestWithinImages(messages: readonly Message[]): Message[] {
  let left = PAGE_IMAGE_CHARS;
  const beyond = messages.findLastIndex(({ attachments = [] }) => {
    for (const { chars = 0 } of attachments) left -= chars;
    return left < 0;
  });
  return messages.slice(Math.min(beyond + 1, messages.length - 1));
}

async function* piecesOf(
  messages: readonly Message[],
  { threads, uid, shape }: { threads: HistoryThreads; uid: string; shape: HistoryShape },
): AsyncGenerator<string> {
  yield shape.begin;
  let separator = "";
  for (const message of messages) {
    const addresses = message.attachments && (await threads.attachmentAddresses(uid, message));
    const { before, after } = shape.around(message, addresses);
    yield separator + before;
    for await (const text of threads.keptText(uid, message)) yield inString(text);
    yield inString(message.content) + after;
    separator = ",";
  }
  yield shape.end;
}

/** A text as it is written between the quotes of a JSON string. */
function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * The id of a message for clients of other front ends. A reply in progress has no id of its own, so it is named after its
 * run, as in its stream.
 */
export function shownMessageId({
  id,
  role,
  clientMessageId,
  runId,
  author,
}: Pick<Message, "id" | "role" | "clientMessageId" | "runId" | "author">): string {
  if (role === "user") return clientMessageId ?? id;
  return author ? id : runId;
}

/**
 * A message without the fields for the model and the service itself. `addresses`: those of its attachments, in order; null for a
 * lost one.
 */
export function itemOf(message: Message, addresses?: readonly (string | null)[]): HistoryItem {
  const { id, role, content, createdAtMs, clientMessageId, attachments = [], steps, author, model } = message;
  const { error, outcome, feedback, replaces, otherBranch, files } = message;
  const sources = sourcesOf(steps ?? []);
  return {
    id,
    role,
    content,
    createdAt: createdAtMs,
    ...(clientMessageId === undefined ? {} : { clientMessageId }),
    ...(addresses ? { attachments: attachmentsOf(attachments, addresses) } : {}),
    ...(files ? { files } : {}),
    ...(steps ? { steps: steps.map(({ sources: _, ...step }) => step) } : {}),
    ...(sources.length > 0 ? { sources } : {}),
    ...(author ? { author } : {}),
    ...(model === undefined ? {} : { model }),
    ...(error ? { error } : {}),
    ...(isUnfinished(outcome) ? { ended: outcome } : {}),
    ...(replaces === undefined ? {} : { replaces }),
    ...(otherBranch ? { otherBranch } : {}),
    ...(feedback ? { feedback: ratingOf(feedback) } : {}),
  };
}

/** Of a reply that was not said to its end, and did not fail. */
function isUnfinished(outcome: Message["outcome"]): outcome is NonNullable<HistoryItem["ended"]> {
  return outcome === "cancelled" || outcome === "superseded" || outcome === "expired";
}

/** Each document once. */
export function sourcesOf(steps: readonly KeptStep[]): Source[] {
  const sources = steps.flatMap((step) => step.sources ?? []);
  return [...new Map(sources.map((source) => [source.url, source])).values()];
}

function ratingOf({ rating, comment }: Feedback) {
  return { rating, ...(comment === undefined ? {} : { comment }) };
}

/** Without one that is lost. */
function attachmentsOf(attachments: readonly Attachment[], addresses: readonly (string | null)[]) {
  return attachments.flatMap(({ name }, nth) => {
    const url = addresses[nth] ?? null;
    return url === null ? [] : [{ url, ...(name === undefined ? {} : { name }) }];
  });
}
