import type { JsonStorage } from "../service/json-storage.ts";
import type { VisitorSession } from "../service/visitor-session.ts";
import type { WidgetApi } from "../service/widget-api.ts";
import type { ViewModel } from "../view/view-model.ts";
import type { ConversationHost } from "./conversation-host.ts";

/** What the code of one conversation shares. */
export interface ConversationDependencies {
  api: WidgetApi;
  visitor: VisitorSession;
  view: ViewModel;
  host: ConversationHost;
  /** Shared by the tabs of this origin. */
  sharedStorage: JsonStorage;
  /** This tab's own; it outlives a navigation. */
  tabStorage: JsonStorage;
  /** Prefix of Web Lock names. */
  lockPrefix: string;
}
