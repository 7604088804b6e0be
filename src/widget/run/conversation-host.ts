import type { CustomerContext } from "../service/customer-context.ts";
import type { Strings } from "../strings/strings.ts";
import type { ToolHost, ToolPart } from "./tab/tool-part.ts";

/** What a conversation needs of its element. */
export interface ConversationHost extends ToolHost {
  strings(): Strings;
  /** The title of a listed tool. */
  titleOf(tool: string): string | undefined;
  /** What is done with the page's tools; null: that part of the script did not load. */
  toolPart(): Promise<ToolPart | null>;
  customerContext(): CustomerContext | null;
  /** The visitor's page, as it is sent to the service. */
  page(): string;
  /** The page's language, as it is sent to the service; undefined if it is not a language tag. */
  locale(): string | undefined;
  /** The panel is open, in a visible tab. */
  isSeen(): boolean;
  /** The element is in a visible tab, whether its panel is open or not. */
  isInView(): boolean;
  /** A sound, and the title of a hidden tab, may tell of messages. */
  alerts(): boolean;
  redraw(): void;
}
