import type { Line } from "../../../machines/line.ts";
import type { CustomerContext } from "../service/customer-context.ts";
import type { Strings } from "../strings/strings.ts";
import type { Phase, Shown } from "../view/state.ts";
import type { Tool, ToolAnnotations } from "../tools/tools.ts";

/** What a conversation needs of the element that it lives in. */
export interface PageHost {
  strings(): Strings;
  tools(): Promise<Tool[]>;
  confirmTools(): ConfirmTools;
  toolTimeoutMs(): number;
  customerContext(): CustomerContext | null;
  /** Is the panel open, in a tab that is looked at? */
  isSeen(): boolean;
  show(shown: Shown): void;
  /** False where a listener prevented it. */
  emit<Name extends keyof ChatAgentEvents>(name: Name, detail: ChatAgentEvents[Name]): boolean;
}

/** Which tools ask the visitor first: those that say they have consequences, all that write, all, none. */
export type ConfirmTools = "consequential" | "writes" | "all" | "none";

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

/** Where the visitor is, as the service takes it. */
export function currentPage(): string {
  return (location.pathname + location.search).slice(0, 512);
}
