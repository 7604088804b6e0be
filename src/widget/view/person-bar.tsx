import type { VNode } from "preact";
import type { Strings } from "../strings/strings.ts";
import type { ShownPerson, ViewState } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

const MAX_COMMENT_CHARS = 2_000;

/**
 * Shows the person who answers instead of the assistant: waited for (and how long), here, typing, gone; offers to ask, to leave an
 * address where nobody is there, and to say how a person has helped.
 */
export function PersonBar(props: WidgetProps): VNode | null {
  const { state, language } = props;
  const { person = null, handoff = false, peopleAgainAtMs = null, askPerson, people } = state;
  const { strings } = language;
  if (person === null && !handoff && peopleAgainAtMs === null && !people) return null;
  const isAsked = person !== null && person.type !== "gone";
  const { rating } = people ?? {};
  const isRated = !isAsked && (rating === null || rating?.isAsked === true);
  return (
    <div class="person" part="person">
      {isRated && <Rating {...props} />}
      {person?.type === "here" && <Face name={person.name} picture={pictureOf(person.name, state)} />}
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
      {handoff && person?.type !== "here" && (
        <button type="button" class="chip" part="ask-person" onClick={() => askPerson?.(!isAsked)}>
          {isAsked ? strings.stopWaiting : strings.askPerson}
        </button>
      )}
    </div>
  );
}

/** The picture of a person over the first letter of the name, which is seen where there is none, or the page's policy forbids it. */
function Face({ name, picture }: { name: string; picture: string | undefined }): VNode {
  const letter = String.fromCodePoint(name.codePointAt(0) ?? 32).toUpperCase();
  return (
    <span class="face" aria-hidden="true">
      {letter}
      {picture !== undefined && <img src={picture} alt="" />}
    </span>
  );
}

function pictureOf(name: string, { people }: ViewState): string | undefined {
  return people?.items.findLast((change) => change.name === name)?.picture;
}

/** A form for an e-mail address, where nobody is there, or nobody came; or what was left. */
function Address({ state, language }: WidgetProps): VNode | null {
  const { people, peopleAgainAtMs = null, leaveAddress, messages } = state;
  const { strings } = language;
  const isMissed = peopleAgainAtMs !== null || people?.items.at(-1)?.how === "expired";
  // Kept beside the conversation, which is there with its first message.
  if (!isMissed || !people || !messages.some(({ id }) => id !== null)) return null;
  if (people.address !== undefined)
    return (
      <p part="address" dir="auto">
        {strings.addressLeft.replace("{name}", people.address)}
      </p>
    );
  return (
    <form
      class="comment"
      part="leave-address"
      onSubmit={(event) => {
        event.preventDefault();
        const address = event.currentTarget.querySelector("input")?.value.trim() ?? "";
        if (address !== "") leaveAddress?.(address);
      }}
    >
      <input
        type="email"
        required
        maxLength={254}
        autoComplete="email"
        aria-label={strings.address}
        placeholder={strings.leaveAddress}
      />
      <button class="chip strong">{strings.send}</button>
    </form>
  );
}

/** From bad to good: the mouths of five faces, on a 24-unit grid. */
const MOUTHS = [
  "M8 17c2-3.6 6-3.6 8 0M7 7.4l3 1.4M17 7.4l-3 1.4",
  "M8.5 16.4c2-1.5 5-1.5 7 0",
  "M8.5 15.6h7",
  "M8.5 14.8c2 1.7 5 1.7 7 0",
  "M7 13.8h10c-1 5-9 5-10 0z",
];

/** How it was with the person: five faces, then words. Said once, nothing more is asked, nor after a reload. */
function Rating({ state, language }: WidgetProps): VNode {
  const { people, ratePerson } = state;
  const { strings } = language;
  const { rating = null } = people ?? {};
  const name = people?.items.findLast((change) => change.name !== undefined)?.name ?? "";
  const question = strings.ratePerson.replace("{name}", name);
  const labels = strings.faces.split(", ");
  return (
    <div class="csat" part="rating">
      <p id="csat">{question}</p>
      <div class="faces" role="group" aria-labelledby="csat">
        {MOUTHS.map((mouth, at) => (
          <button
            key={mouth}
            type="button"
            class="thumb"
            part="face"
            aria-label={labels[at]}
            title={labels[at]}
            aria-pressed={rating?.score === at + 1}
            onClick={() => ratePerson?.({ score: at + 1 })}
          >
            <svg viewBox="0 0 24 24" aria-hidden="true" class="icon">
              <circle cx="12" cy="12" r="9.5" />
              <path d={`M9 9.6v.1M15 9.6v.1${mouth}`} />
            </svg>
          </button>
        ))}
      </div>
      {rating !== null && (
        <form
          class="comment"
          onSubmit={(event) => {
            event.preventDefault();
            const comment = event.currentTarget.querySelector("input")?.value.trim() ?? "";
            ratePerson?.(comment === "" ? null : { score: rating.score, comment });
          }}
        >
          <input
            dir="auto"
            maxLength={MAX_COMMENT_CHARS}
            aria-label={strings.anythingElse}
            placeholder={strings.anythingElse}
          />
          <button class="chip strong">{strings.sendFeedback}</button>
          <button type="button" class="chip" onClick={() => ratePerson?.(null)}>
            {strings.skipFeedback}
          </button>
        </form>
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
