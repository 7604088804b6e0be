import { TextField } from "../parts/fields.tsx";

/** As many as the service takes. */
const MOST = 100;

/** A channel's ready answers: a field for each, which may have lines of its own. */
export function ReplyFields({
  replies,
  onChange,
}: {
  replies: readonly string[];
  onChange: (replies: readonly string[]) => void;
}) {
  return (
    <div class="reply-fields" role="group" aria-label="Ready answers">
      {replies.map((reply, at) => (
        <div key={at} class="reply-field">
          <TextField
            label={`Ready answer ${at + 1}`}
            rows={2}
            value={reply}
            onInput={(text) => onChange(replies.with(at, text))}
          />
          <button
            type="button"
            class="button small"
            aria-label={`Remove ready answer ${at + 1}`}
            onClick={() => onChange(replies.toSpliced(at, 1))}
          >
            Remove
          </button>
        </div>
      ))}
      {replies.length < MOST && (
        <button type="button" class="button" onClick={() => onChange([...replies, ""])}>
          Add a ready answer
        </button>
      )}
      <p class="hint">Who has taken a conversation chooses one, and can change it before it is sent.</p>
    </div>
  );
}
