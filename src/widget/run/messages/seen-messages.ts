import { fieldsOf } from "../../service/fields.ts";
import type { JsonStorage } from "../../service/json-storage.ts";
import type { ShownMessage } from "../../view/view-state.ts";

/** How many threads are remembered. */
const MOST_THREADS = 50;

/** Time of the newest message of this thread seen in any tab, by the service's clock; null: none. */
export function seenUntil(storage: JsonStorage, threadId: string): number | null {
  const atMs = fieldsOf(storage.read("seen"))[threadId];
  return typeof atMs === "number" ? atMs : null;
}

/** The visitor sees these messages of the thread. */
export function noteSeen(storage: JsonStorage, threadId: string, messages: readonly ShownMessage[]): void {
  const atMs = messages.findLast(({ id }) => id !== null)?.atMs ?? null;
  if (atMs === null || atMs <= (seenUntil(storage, threadId) ?? 0)) return;
  const { [threadId]: _before, ...others } = fieldsOf(storage.read("seen"));
  const kept = Object.entries(others).slice(1 - MOST_THREADS);
  storage.write("seen", Object.fromEntries([...kept, [threadId, atMs]]));
}

/** How many replies of the thread's history the visitor has not seen; null: unknown for this thread. */
export function countUnseen(
  storage: JsonStorage,
  threadId: string,
  messages: readonly ShownMessage[],
): number | null {
  const seen = seenUntil(storage, threadId);
  if (seen === null) return null;
  return messages.filter(({ role, id, atMs }) => role === "assistant" && id !== null && (atMs ?? 0) > seen)
    .length;
}
