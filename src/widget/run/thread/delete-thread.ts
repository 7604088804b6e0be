import { fieldsOf } from "../../service/fields.ts";
import type { JsonStorage } from "../../service/json-storage.ts";
import { Refused, refusedStatus } from "../../service/widget-api.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";

/**
 * Deletes the visitor's conversation, and what this browser stores of it: its title in the list, when it was seen, a
 * draft. If the tab was in it, it is in no conversation afterwards. A conversation already gone counts as deleted.
 */
export async function deleteThread(
  {
    api,
    visitor,
    sharedStorage,
    tabStorage,
  }: Pick<ConversationDependencies, "api" | "visitor" | "sharedStorage" | "tabStorage">,
  threadId: string,
): Promise<void> {
  const path = `/threads/${encodeURIComponent(threadId)}/delete`;
  try {
    await api({ path, visitorToken: await visitor.token() });
  } catch (error) {
    if (refusedStatus(error) !== 404) throw error;
  }
  for (const name of ["titles", "seen"]) dropField(sharedStorage, name, threadId);
  dropField(tabStorage, "drafts", threadId);
  if (visitor.threadId === threadId) visitor.forgetUnknown(new Refused(404, 0), null);
}

function dropField(storage: JsonStorage, name: string, field: string): void {
  const { [field]: dropped, ...others } = fieldsOf(storage.read(name));
  if (dropped !== undefined) storage.write(name, others);
}
