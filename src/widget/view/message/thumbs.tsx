import type { VNode } from "preact";
import type { Language } from "../../strings/language.ts";
import { CommentForm } from "../comment-form.tsx";
import { feedbackOf, raterOf } from "./shown-feedback.ts";
import type { GivenFeedback } from "./shown-feedback.ts";
import type { ShownMessage } from "../view-state.ts";

/** A hand with its thumb up, on a 24-unit grid. */
const HAND = "M7 11v9H4v-9zm0 0 4-8a2 2 0 0 1 2 2v4h6a1.6 1.6 0 0 1 1.6 2l-1.7 7.6a1.6 1.6 0 0 1-1.6 1.4H7";

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
      <svg viewBox="0 0 24 24" aria-hidden="true" class="icon">
        <path d={HAND} />
      </svg>
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
