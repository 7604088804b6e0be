import { fieldsOf, isString } from "./fields.ts";
import { messageOf } from "./read-history.ts";
import type { HistoryMessage } from "./read-history.ts";

/** A line of a thread's feed that this element uses. */
export type FeedLine =
  | { type: "message"; item: HistoryMessage }
  /** `runId`: the run that is at work, or waits for a page tool. */
  | { type: "state"; isAtWork: boolean; runId: string | null; person: FeedPerson | null }
  /** A person is typing. */
  | { type: "typing" }
  /** The history must be reloaded. */
  | { type: "reset" }
  /** The thread is gone. */
  | { type: "deleted" };

/** Since when the visitor waits for a person, or the name of the person who has the thread. */
export type FeedPerson = { sinceMs: number } | { name: string };

/** null for a line of another type (a heartbeat, types that a newer service adds). */
export function feedLineOf(value: unknown): FeedLine | null {
  const { type, item, state, runId } = fieldsOf(value);
  switch (type) {
    case "message":
      return isString(fieldsOf(item)["id"]) ? { type, item: messageOf(item) } : null;
    case "state":
      return {
        type,
        isAtWork: state === "running",
        runId: isString(runId) ? runId : null,
        person: personIn(value),
      };
    case "typing":
    case "reset":
    case "deleted":
      return { type };
    default:
      return null;
  }
}

function personIn(value: unknown): FeedPerson | null {
  const { state, waitingSince, with: name } = fieldsOf(value);
  if (state === "waiting_for_person") return { sinceMs: Number(waitingSince) };
  return state === "with_person" ? { name: String(name) } : null;
}
