import type { VNode } from "preact";
import type { Strings } from "../strings/strings.ts";
import type { ShownPerson } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** Shows the person who answers instead of the assistant: waited for (and how long), here, typing, gone; offers to ask. */
export function PersonBar({ state, language }: WidgetProps): VNode | null {
  const { person = null, handoff = false, peopleAgainAtMs = null, askPerson } = state;
  const { strings } = language;
  if (person === null && !handoff && peopleAgainAtMs === null) return null;
  const isAsked = person !== null && person.type !== "gone";
  return (
    <div class="person" part="person">
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
      {handoff && person?.type !== "here" && (
        <button type="button" class="chip" part="ask-person" onClick={() => askPerson?.(!isAsked)}>
          {isAsked ? strings.stopWaiting : strings.askPerson}
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
