import type { Item, ShownStep } from "../view/state.ts";
import type { Service } from "./transport.ts";
import type { Place } from "./visitor.ts";

/** As many as fill a tall panel a few times. */
const PAGE_SIZE = 30;

interface HistoryItem {
  id: string;
  role: "user" | "assistant";
  content: string;
  steps?: ShownStep[];
}

/** The newest messages of a thread, or those before one, oldest first. */
export async function newestMessages(
  service: Service,
  at: Place,
  before: string | null,
): Promise<{ items: Item[]; hasEarlier: boolean }> {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(before === null ? {} : { before }) });
  const response = await service({
    path: `/threads/${encodeURIComponent(at.threadId)}/messages?${query}`,
    method: "GET",
    token: at.token,
  });
  const { items } = (await response.json()) as { items: HistoryItem[] };
  return {
    items: items.map(({ id, role, content, steps = [] }) => ({
      key: `h${id}`,
      role,
      steps,
      text: content,
      live: false,
      problem: null,
    })),
    hasEarlier: items.length === PAGE_SIZE,
  };
}
