import type { ConversationPart } from "./run/conversation.ts";
import type { readChannel } from "./service/read-channel.ts";
import type { toldPage } from "./service/told-page.ts";
import type { ToolPart } from "./run/tab/tool-part.ts";
import type { listTools } from "./tools/list-tools.ts";
import type { PanelModule } from "./view/panel-module.ts";

/** Everything that is loaded when the panel opens, or earlier if the badge must count replies. */
export interface PanelPart extends PanelModule, ConversationPart, ToolPart {
  listTools: typeof listTools;
  toldPage: typeof toldPage;
  /** Asks what the page's channel allows its visitors. */
  readChannel: typeof readChannel;
}
