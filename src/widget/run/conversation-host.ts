import type { CustomerContext } from "../service/customer-context.ts";
import type { Strings } from "../strings/strings.ts";
import type { ConfirmTools } from "../tools/asks-first.ts";
import type { Tool } from "../tools/tool.ts";
import type { ChatAgentEvents } from "./chat-agent-events.ts";

/** What a conversation needs of its element. */
export interface ConversationHost {
  strings(): Strings;
  tools(): Promise<Tool[]>;
  /** Of a tool that was listed. */
  titleOf(tool: string): string | undefined;
  /** Resolves when the page's tools have stopped changing. */
  toolsSettled(): Promise<void>;
  confirmTools(): ConfirmTools;
  toolTimeoutMs(): number;
  customerContext(): CustomerContext | null;
  /** The visitor's page, as the service is told of it. */
  page(): string;
  /** The page's language, as the service is told of it; undefined where it is no language tag. */
  locale(): string | undefined;
  /** The panel is open, in a visible tab. */
  isSeen(): boolean;
  /** The element is in a visible tab, whether its panel is open or not. */
  isInView(): boolean;
  redraw(): void;
  /** Returns false where a listener prevented the event. */
  emit<Name extends keyof ChatAgentEvents>(name: Name, detail: ChatAgentEvents[Name]): boolean;
}
