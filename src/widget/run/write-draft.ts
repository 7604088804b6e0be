import { fieldsOf, isString } from "../service/fields.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";

type DraftDependencies = Pick<ConversationDependencies, "tabStorage" | "view" | "visitor">;

/** Sets the composer's text, which the tab keeps through reloads. */
export function writeDraft({ tabStorage, view }: Omit<DraftDependencies, "visitor">, text: string): void {
  tabStorage.write("draft", text === "" ? null : text);
  view.change({ draft: text, isQueued: false });
}

/** The tab goes into another conversation: the draft stays with the one that it is in. Call `takeDraft` there. */
export function leaveDraft({ tabStorage, view, visitor }: DraftDependencies): void {
  const { [nameOf(visitor)]: _before, ...others } = fieldsOf(tabStorage.read("drafts"));
  const { draft } = view.state;
  tabStorage.write("drafts", draft === "" ? others : { ...others, [nameOf(visitor)]: draft });
}

/** The draft that was left in the conversation that the tab is in now. */
export function takeDraft(dependencies: DraftDependencies): void {
  const { tabStorage, visitor } = dependencies;
  const { [nameOf(visitor)]: draft, ...others } = fieldsOf(tabStorage.read("drafts"));
  tabStorage.write("drafts", Object.keys(others).length === 0 ? null : others);
  if (isString(draft)) writeDraft(dependencies, draft);
}

function nameOf({ threadId }: DraftDependencies["visitor"]): string {
  return threadId ?? "";
}
