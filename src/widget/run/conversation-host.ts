import type { CustomerContext } from "../service/customer-context.ts";
import type { Strings } from "../strings/strings.ts";
import type { ConfirmTools } from "../tools/asks-first.ts";
import type { Tool } from "../tools/tool.ts";
import type { ChatAgentEvents } from "./chat-agent-events.ts";

/** What a conversation needs of its element. */
export interface ConversationHost {
  strings(): Strings;
  tools(): Promise<Tool[]>;
  /** The title of a listed tool. */
  titleOf(tool: string): string | undefined;
  /** Resolves when the page's tools have stopped changing. */
  toolsSettled(): Promise<void>;
  confirmTools(): ConfirmTools;
  toolTimeoutMs(): number;
  customerContext(): CustomerContext | null;
  /** The visitor's page, as it is sent to the service. */
  page(): string;
  /** The page's language, as it is sent to the service; undefined if it is not a language tag. */
  locale(): string | undefined;
  /** The panel is open, in a visible tab. */
  isSeen(): boolean;
  /** The element is in a visible tab, whether its panel is open or not. */
  isInView(): boolean;
  redraw(): void;
  /** Returns false if a listener prevented the event. */
  emit<Name extends keyof ChatAgentEvents>(name: Name, detail: ChatAgentEvents[Name]): boolean;
}
