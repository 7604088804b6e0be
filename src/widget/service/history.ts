import type { StepLine } from "../../../machines/line.ts";
import type { Service } from "./transport.ts";
import type { Place } from "./visitor.ts";

/** As many as fill a tall panel a few times. */
const PAGE_SIZE = 30;

export interface HistoryMessage {
  id: string;
  role: "user" | "assistant";
  content: string;
  steps?: Omit<StepLine, "type">[];
}

export interface HistoryPage {
  /** Oldest first. */
  messages: HistoryMessage[];
  hasEarlier: boolean;
}

/** The newest messages of a thread, or those before one. */
export async function readHistory(service: Service, at: Place, before: string | null): Promise<HistoryPage> {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(before === null ? {} : { before }) });
  const response = await service({
    path: `/threads/${encodeURIComponent(at.threadId)}/messages?${query}`,
    method: "GET",
    token: at.token,
  });
  const { items } = (await response.json()) as { items: HistoryMessage[] };
  return { messages: items, hasEarlier: items.length === PAGE_SIZE };
}
