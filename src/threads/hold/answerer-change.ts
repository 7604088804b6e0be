import type { Person } from "../../../machines/person.ts";
import type { ThreadEvent } from "../../../machines/thread.ts";
import type { ThreadSnapshot } from "../../charts/charts.ts";
import type { AnswererChange, HowChanged } from "../../domain/threads/answerer-change.ts";

/** Events of the chart that change who answers. */
const CHANGES: Partial<Record<ThreadEvent["type"], HowChanged>> = {
  "agent.handedOff": "asked",
  "person.asked": "asked",
  "person.unasked": "cancelled",
  "wait.expired": "expired",
  "answer.expired": "unanswered",
  "person.queued": "queued",
  "person.took": "taken",
  "person.returned": "returned",
  "person.closed": "closed",
};

/** What a transition changes of who answers; null: nothing. */
export function answererChange(
  event: ThreadEvent["type"],
  { before, next, atMs }: { before: ThreadSnapshot; next: ThreadSnapshot; atMs: number },
): AnswererChange | null {
  const how = CHANGES[event];
  if (how === undefined) return null;
  const person = how === "taken" ? next.context.person : before.context.person;
  const asked = next.context.person ?? before.context.person;
  return { epoch: next.context.epoch, how, atMs, ...whoOf(person), ...askedOf(asked) };
}

function whoOf(person: Person | null): Pick<AnswererChange, "by" | "shownAs"> {
  if (!person || person.name === null) return {};
  return { by: person.name, ...(person.shownAs === undefined ? {} : { shownAs: person.shownAs }) };
}

function askedOf(person: Person | null): Pick<AnswererChange, "queue" | "reason"> {
  const { queue, reason = null } = person ?? {};
  return { ...(queue === undefined ? {} : { queue }), ...(reason === null ? {} : { reason }) };
}
