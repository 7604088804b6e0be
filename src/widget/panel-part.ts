import type { ConversationPart } from "./run/conversation.ts";
import type { readChannel } from "./service/read-channel.ts";
import type { PanelModule } from "./view/panel-module.ts";

/** All that is loaded when the panel opens, or where the badge is to tell of what comes. */
export interface PanelPart extends PanelModule, ConversationPart {
  /** What the page's channel allows its visitors. */
  readChannel: typeof readChannel;
}
