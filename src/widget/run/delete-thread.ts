import { fieldsOf } from "../service/fields.ts";
import type { JsonStorage } from "../service/json-storage.ts";
import { Refused, refusedStatus } from "../service/widget-api.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";

/**
 * Deletes the visitor's conversation, and what this browser keeps of it: the words that it is listed by, when it was seen,
 * a draft. The tab is in no conversation afterwards where it was in this one. One that is gone already is deleted.
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
