import type { VNode } from "preact";
import type { Strings } from "../../strings/strings.ts";
import { Face } from "../face.tsx";
import { pictureOf } from "./picture-of.ts";
import type { ShownPerson } from "../view-state.ts";
import type { WidgetProps } from "../widget-props.ts";
import { Address } from "./address.tsx";
import { PersonRating } from "./person-rating.tsx";

/**
 * Shows the person who answers instead of the assistant: waited for (and how long), here, typing, gone; offers to stop waiting, to leave an
 * address where nobody is there, and to say how a person has helped.
 */
export function PersonBar(props: WidgetProps): VNode | null {
  const { state, language } = props;
  const { person = null, peopleAgainAtMs = null, askPerson, people } = state;
  const { strings } = language;
  if (person === null && peopleAgainAtMs === null && !people) return null;
  const isAsked = person !== null && person.type !== "gone";
  const { rating } = people ?? {};
  const isRated = !isAsked && (rating === null || rating?.isAsked === true);
  return (
    <div class="person" part="person">
      {isRated && <PersonRating {...props} />}
      {person?.type === "here" && <Face person={person.name} picture={pictureOf(person.name, state)} />}
      {person !== null && (
        <p role="status" dir="auto">
          {textOf(person, strings)}
        </p>
      )}
      {person === null && peopleAgainAtMs !== null && (
        <p dir="auto">{strings.personAgain.replace("{when}", whenText(peopleAgainAtMs, language.tag))}</p>
      )}
      {person?.type === "waiting" && (
        <span class="waited" aria-hidden="true">
          {lasted(Date.now() - person.sinceMs)}
        </span>
      )}
      {person === null && <Address {...props} />}
      {person?.type === "waiting" && (
        <button type="button" class="chip" part="ask-person" onClick={() => askPerson?.(false)}>
          {strings.stopWaiting}
        </button>
      )}
    </div>
  );
}

function textOf(person: ShownPerson, strings: Strings): string {
  switch (person.type) {
    case "waiting":
      return strings.waiting;
    case "here":
      return (person.isTyping ? strings.personWrites : strings.personIsHere).replace("{name}", person.name);
    case "gone":
      return strings.assistantIsBack;
  }
}

/** By the visitor's own clock. */
function whenText(atMs: number, tag: string): string {
  const day = { weekday: "long", day: "numeric", month: "long" } as const;
  return new Date(atMs).toLocaleString(tag, { ...day, hour: "numeric", minute: "2-digit" });
}

/** Like 1:05. */
function lasted(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
