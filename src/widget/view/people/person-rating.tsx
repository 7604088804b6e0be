import type { VNode } from "preact";
import { CommentForm } from "../comment-form.tsx";
import type { WidgetProps } from "../widget-props.ts";

/** From bad to good: the mouths of five faces, on a 24-unit grid. */
const MOUTHS = [
  "M8 17c2-3.6 6-3.6 8 0M7 7.4l3 1.4M17 7.4l-3 1.4",
  "M8.5 16.4c2-1.5 5-1.5 7 0",
  "M8.5 15.6h7",
  "M8.5 14.8c2 1.7 5 1.7 7 0",
  "M7 13.8h10c-1 5-9 5-10 0z",
];

/** How it was with the person: five faces, then words. Said once, nothing more is asked, nor after a reload. */
export function PersonRating({ state, language }: WidgetProps): VNode {
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
        <CommentForm
          label={strings.anythingElse}
          strings={strings}
          onWords={(words) => ratePerson?.(words === null ? null : { score: rating.score, comment: words })}
        />
      )}
    </div>
  );
}
