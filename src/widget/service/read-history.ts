import type { HistoryItem, HistoryPage as ToldPage } from "../../protocol/history.ts";
import type { ErrorLine, Source, Step } from "../../protocol/lines.ts";
import { filesOf } from "../files/message-file.ts";
import type { MessageFile } from "../files/message-file.ts";
import { imagesOf } from "../images/message-image.ts";
import type { MessageImage } from "../images/message-image.ts";
import type { ThreadAccess } from "./visitor-session.ts";
import type { WidgetApi } from "./widget-api.ts";

/** Fills a tall panel a few times. */
const PAGE_SIZE = 30;

export interface HistoryMessage {
  id: string;
  role: "user" | "assistant";
  text: string;
  /** The name of the person who wrote it. */
  author: string | undefined;
  images: MessageImage[] | undefined;
  files: MessageFile[] | undefined;
  /** The id that a page gave to the visitor's message. */
  clientMessageId: string | null;
  steps: Step[];
  sources?: Source[];
  atMs: number | null;
  /** For a reply that failed, or was not said to its end: the error line of its stream, without the hint. */
  failure: ErrorLine | null;
  feedback?: unknown;
}

export interface HistoryPage {
  /** Oldest first. */
  messages: HistoryMessage[];
  hasEarlier: boolean;
}

/** The newest messages of a thread, or the newest ones before the message with id `before`. */
export async function readHistory(
  api: WidgetApi,
  { visitorToken, threadId }: ThreadAccess,
  before: string | null,
  limit = PAGE_SIZE,
): Promise<HistoryPage> {
  const query = `limit=${limit}${before === null ? "" : `&before=${encodeURIComponent(before)}`}`;
  const path = `/threads/${encodeURIComponent(threadId)}/messages?${query}`;
  const response = await api({ path, method: "GET", visitorToken });
  // A cast: the service answers so.
  const { items = [] } = (await response.json()) as Partial<ToldPage>;
  const messages = items.map(messageOf);
  // Ids count up from 1; a page of long messages has fewer than requested.
  return { messages, hasEarlier: messages.length > 0 && messages[0]?.id !== "1" };
}

/** An item of a thread's history, from the history or the feed. */
export function messageOf({
  author,
  attachments,
  files,
  content,
  createdAt,
  clientMessageId,
  error,
  ended,
  steps = [],
  ...item
}: HistoryItem): HistoryMessage {
  // A cast: an unknown code is treated as a fault.
  const failure = (
    error === undefined && ended === undefined ? null : { message: "", code: ended, ...error, type: "error" }
  ) as ErrorLine | null;
  return {
    ...item,
    text: failure?.message === content ? "" : content,
    author: author?.name,
    images: imagesOf(attachments),
    files: filesOf(files),
    clientMessageId: clientMessageId ?? null,
    steps,
    atMs: createdAt,
    failure,
  };
}
