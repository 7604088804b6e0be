import type { ConversationDependencies } from "./conversation-dependencies.ts";

/** Sets the composer's text, which the tab keeps through reloads. */
export function writeDraft(
  { tabStorage, view }: Pick<ConversationDependencies, "tabStorage" | "view">,
  text: string,
): void {
  tabStorage.write("draft", text === "" ? null : text);
  view.change({ draft: text, isQueued: false });
}
