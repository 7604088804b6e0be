import type { StepLine } from "../../../machines/line.ts";
import type { ThreadAccess } from "./visitor-session.ts";
import type { WidgetApi } from "./widget-api.ts";

/** Fills a tall panel a few times. */
const PAGE_SIZE = 30;

export interface HistoryMessage {
  id: string;
  role: "user" | "assistant";
  text: string;
  steps: Omit<StepLine, "type">[];
}

export interface HistoryPage {
  /** Oldest first. */
  messages: HistoryMessage[];
  hasEarlier: boolean;
}

/** The newest messages of a thread, or the newest ones before the message with id `before`. */
export async function readHistory(
  api: WidgetApi,
  { token, threadId }: ThreadAccess,
  before: string | null,
): Promise<HistoryPage> {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(before === null ? {} : { before }) });
  const path = `/threads/${encodeURIComponent(threadId)}/messages?${query}`;
  const response = await api({ path, method: "GET", token });
  const { items } = (await response.json()) as { items: HistoryItem[] };
  return {
    messages: items.map(({ content, steps = [], ...item }) => ({ ...item, text: content, steps })),
    hasEarlier: items.length === PAGE_SIZE,
  };
}

/** As the service sends it. */
interface HistoryItem {
  id: string;
  role: "user" | "assistant";
  content: string;
  steps?: Omit<StepLine, "type">[];
}
