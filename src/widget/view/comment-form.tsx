import type { VNode } from "preact";
import type { Strings } from "../strings/strings.ts";

const MAX_COMMENT_CHARS = 2_000;

/** A line of words about a rating, which may be left out. `onWords`: what was written; null: nothing. */
export function CommentForm({
  label,
  words,
  strings,
  onWords,
}: {
  label: string;
  /** What was written before; absent: nothing. */
  words?: string | null;
  strings: Strings;
  onWords: (words: string | null) => void;
}): VNode {
  return (
    <form
      class="comment"
      onSubmit={(event) => {
        event.preventDefault();
        onWords(event.currentTarget.querySelector("input")?.value.trim() || null);
      }}
    >
      <input
        part="comment"
        dir="auto"
        maxLength={MAX_COMMENT_CHARS}
        aria-label={label}
        placeholder={label}
        defaultValue={words ?? ""}
      />
      <button class="chip strong">{strings.sendFeedback}</button>
      <button type="button" class="chip" onClick={() => onWords(null)}>
        {strings.skipFeedback}
      </button>
    </form>
  );
}
