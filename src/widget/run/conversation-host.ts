import type { CustomerContext } from "../service/customer-context.ts";
import type { Strings } from "../strings/strings.ts";
import type { ConfirmTools } from "../tools/asks-first.ts";
import type { Tool } from "../tools/tool.ts";
import type { ChatAgentEvents } from "./chat-agent-events.ts";

/** What a conversation needs of its element. */
export interface ConversationHost {
  strings(): Strings;
  tools(): Promise<Tool[]>;
  confirmTools(): ConfirmTools;
  toolTimeoutMs(): number;
  customerContext(): CustomerContext | null;
  /** The visitor's page, as the service is told of it. */
  page(): string;
  /** The panel is open, in a visible tab. */
  isSeen(): boolean;
  redraw(): void;
  /** Returns false where a listener prevented the event. */
  emit<Name extends keyof ChatAgentEvents>(name: Name, detail: ChatAgentEvents[Name]): boolean;
}
