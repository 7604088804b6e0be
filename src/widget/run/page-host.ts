import type { Line } from "../../../machines/line.ts";
import type { ConfirmTools } from "../tools/asks-first.ts";
import type { CustomerContext } from "../service/customer-context.ts";
import type { Strings } from "../strings/strings.ts";
import type { Phase } from "../view/state.ts";
import type { Tool, ToolAnnotations } from "../tools/tool.ts";

/** What a conversation needs of the element that it lives in. */
export interface PageHost {
  strings(): Strings;
  tools(): Promise<Tool[]>;
  confirmTools(): ConfirmTools;
  toolTimeoutMs(): number;
  customerContext(): CustomerContext | null;
  /** Is the panel open, in a tab that is looked at? */
  isSeen(): boolean;
  /** Draws what changed. */
  redraw(): void;
  /** False where a listener prevented it. */
  emit<Name extends keyof ChatAgentEvents>(name: Name, detail: ChatAgentEvents[Name]): boolean;
}

/** The details of the element's events; each is dispatched as `chat-agent:` and its name, bubbling and composed. */
export interface ChatAgentEvents {
  ready: { version: string };
  open: Record<string, never>;
  close: Record<string, never>;
  state: { state: Phase };
  message: { role: "user" | "assistant"; text: string };
  /** A line of a stream, as it came. */
  line: { line: Line };
  step: { id: string; phase: string; text: string };
  /** Cancelable: a prevented one is told to the agent as declined. */
  "before-tool": { tool: string; arguments: Record<string, unknown>; annotations: ToolAnnotations };
  "tool-result": { tool: string; result: unknown; isError: boolean };
  done: { elapsedMs: number; inputTokens?: number; outputTokens?: number };
  error: { message: string; status?: number; code?: string; hint?: string };
  unread: { count: number };
  thread: { threadId: string };
  visitor: { expiresAt: number };
  /** A run goes on after the page changed. */
  resumed: { tool: string | null; from: string | null };
}
