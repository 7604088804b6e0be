import type { Line } from "../../../machines/line.ts";
import type { ToolAnnotations } from "../tools/tool.ts";
import type { ChatPhase } from "../view/view-state.ts";

/** The details of the element's events. Each is dispatched as `chat-agent:` and its name, bubbling and composed. */
export interface ChatAgentEvents {
  ready: { version: string };
  open: Record<string, never>;
  close: Record<string, never>;
  state: { state: ChatPhase };
  message: { role: "user" | "assistant"; text: string };
  /** Every line of a stream. */
  line: { line: Line };
  step: { id: string; phase: string; text: string; sources?: { title: string; url: string }[] };
  /** Cancelable: a prevented call is reported to the agent as declined. */
  "before-tool": { tool: string; arguments: Record<string, unknown>; annotations: ToolAnnotations };
  "tool-result": { tool: string; result: unknown; isError: boolean };
  done: { elapsedMs: number; inputTokens?: number; outputTokens?: number; finishReason?: string };
  error: { message: string; status?: number; code?: string; hint?: string };
  /** Cancelable: the visitor follows a link in a reply. */
  link: { href: string };
  unread: { count: number };
  thread: { threadId: string };
  visitor: { expiresAt: number };
  /** Who answers changes: when the wait for a person began (Unix ms), or the person's name; both null: the assistant. */
  person: { waitingSince: number | null; name: string | null };
  /** A run continues after a navigation, or after its connection was lost. */
  resumed: { tool: string | null; from: string | null };
}
