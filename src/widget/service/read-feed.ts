import { fieldsOf, isString } from "./fields.ts";
import { messageOf } from "./read-history.ts";
import type { HistoryMessage } from "./read-history.ts";

/** A line of a thread's feed that says something to this element. */
export type FeedLine =
  | { type: "message"; item: HistoryMessage }
  /** `runId`: of the run that is at work, or waits for a tool of a page. */
  | { type: "state"; isAtWork: boolean; runId: string | null }
  /** The history is to be read anew. */
  | { type: "reset" }
  /** The thread is gone. */
  | { type: "deleted" };

/** null for a line of another kind (a sign of life, a person who types, what a newer service adds). */
export function feedLineOf(value: unknown): FeedLine | null {
  const { type, item, state, runId } = fieldsOf(value);
  switch (type) {
    case "message":
      return isString(fieldsOf(item)["id"]) ? { type, item: messageOf(item) } : null;
    case "state":
      return { type, isAtWork: state === "running", runId: isString(runId) ? runId : null };
    case "reset":
    case "deleted":
      return { type };
    default:
      return null;
  }
}
