import type { ErrorLine, StepLine } from "../../../machines/line.ts";
import { imagesOf } from "../images/message-image.ts";
import type { MessageImage } from "../images/message-image.ts";
import { fieldsOf, isString } from "./fields.ts";
import { isStep } from "../../protocol/fits.ts";
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
  /** The id that a page gave to the visitor's message. */
  clientMessageId: string | null;
  steps: Omit<StepLine, "type">[];
  atMs: number | null;
  /** For the reply of a failed run: the error line of its stream, without the hint. */
  failure: ErrorLine | null;
  feedback: unknown;
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
  const { items } = fieldsOf(await response.json());
  const messages = Array.isArray(items) ? items.map(messageOf) : [];
  // Ids count up from 1; a page of long messages has fewer than requested.
  return { messages, hasEarlier: messages.length > 0 && messages[0]?.id !== "1" };
}

/** An item of a thread's history, from the history or the feed. */
export function messageOf(item: unknown): HistoryMessage {
  const { id, role, content, author, attachments, clientMessageId, steps, error, createdAt, feedback } =
    fieldsOf(item);
  const { name } = fieldsOf(author);
  // A cast: an unknown code is treated as a fault.
  const failure = error === undefined ? null : ({ ...fieldsOf(error), type: "error" } as ErrorLine);
  return {
    id: String(id),
    role: role === "user" ? "user" : "assistant",
    text: failure?.message === content ? "" : String(content),
    author: isString(name) ? name : undefined,
    images: imagesOf(attachments),
    clientMessageId: isString(clientMessageId) ? clientMessageId : null,
    steps: Array.isArray(steps) ? steps.filter(isStep) : [],
    atMs: typeof createdAt === "number" ? createdAt : null,
    failure,
    feedback,
  };
}
