import type { VNode } from "preact";
import type { Language } from "../../strings/language.ts";
import { HAND, Icon } from "../icons.tsx";
import { CommentForm } from "../comment-form.tsx";
import { feedbackOf, raterOf } from "./shown-feedback.ts";
import type { GivenFeedback } from "./shown-feedback.ts";
import type { ShownMessage } from "../view-state.ts";

/** The visitor's rating of a finished reply of the assistant. The attribute `feedback` may hide it (feedback.css). */
export function Thumbs({ message, language }: { message: ShownMessage; language: Language }): VNode | null {
  const { id, role, author, live, text } = message;
  if (id === null || role === "user" || author || live || text === "") return null;
  const { strings } = language;
  const { rating, comment, isAsked } = feedbackOf(message);
  const rate = (given: GivenFeedback) => void raterOf(message)?.rate(message, given, strings.feedbackThanks);
  const thumb = (one: "up" | "down", label: string) => (
    <button
      type="button"
      class={`thumb ${one}`}
      part="thumb"
      aria-label={label}
      title={label}
      aria-pressed={rating === one}
      onClick={() => rate({ rating: rating === one ? null : one })}
    >
      <Icon path={HAND} />
    </button>
  );
  return (
    <div class="feedback" part="feedback">
      <div class="thumbs" role="group" aria-label={strings.rate}>
        {thumb("up", strings.rateUp)}
        {thumb("down", strings.rateDown)}
      </div>
      {isAsked && (
        <CommentForm
          label={strings.whatWasWrong}
          words={comment}
          strings={strings}
          onWords={(words) =>
            words === null ? raterOf(message)?.skip(message) : rate({ rating: "down", comment: words })
          }
        />
      )}
    </div>
  );
}
