import { fieldsOf, isString } from "../service/fields.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";

type DraftDependencies = Pick<ConversationDependencies, "tabStorage" | "view" | "visitor">;

/** Sets the composer's text, which survives reloads of the tab. */
export function writeDraft({ tabStorage, view }: Omit<DraftDependencies, "visitor">, text: string): void {
  tabStorage.write("draft", text === "" ? null : text);
  view.change({ draft: text, isQueued: false });
}

/** Call before the tab changes the conversation: stores the draft with the current one. Then call `takeDraft`. */
export function leaveDraft({ tabStorage, view, visitor }: DraftDependencies): void {
  const { [nameOf(visitor)]: _before, ...others } = fieldsOf(tabStorage.read("drafts"));
  const { draft } = view.state;
  tabStorage.write("drafts", draft === "" ? others : { ...others, [nameOf(visitor)]: draft });
}

/** Restores the draft that was left in the tab's current conversation. */
export function takeDraft(dependencies: DraftDependencies): void {
  const { tabStorage, visitor } = dependencies;
  const { [nameOf(visitor)]: draft, ...others } = fieldsOf(tabStorage.read("drafts"));
  tabStorage.write("drafts", Object.keys(others).length === 0 ? null : others);
  if (isString(draft)) writeDraft(dependencies, draft);
}

function nameOf({ threadId }: DraftDependencies["visitor"]): string {
  return threadId ?? "";
}
