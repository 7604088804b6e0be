import { useRef, useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { TextField } from "../parts/fields.tsx";
import { Trouble } from "../parts/trouble.tsx";
import type { HandOff } from "./hand-off.ts";
import { useDraft } from "./drafts.ts";
import { ReadyAnswers } from "./ready-answers.tsx";
import { useSuggestion } from "./suggestion.ts";

/** The form for the operator who has taken the conversation. `replies`: the channel's ready answers. */
export function Answer({
  slug,
  id,
  handOff,
  replies,
}: {
  slug: string;
  /** Of the conversation. */
  id: string;
  handOff: HandOff;
  replies: readonly string[];
}) {
  const [text, setText] = useDraft(id);
  const form = useRef<HTMLFormElement>(null);
  const [isReturning, setReturning] = useState(false);
  const suggestion = useSuggestion(slug, id);
  const named = text.startsWith("/") ? replies.filter((reply) => isNamed(reply, text.slice(1))) : [];
  const send = async () => {
    if (named[0] !== undefined) return setText(named[0]);
    suggestion.stop();
    const said = text.trim();
    if (said !== "" && (await handOff.say(said))) setText("");
  };
  return (
    <form
      ref={form}
      class="answer"
      aria-label="Answer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        if (!(event.target instanceof HTMLTextAreaElement)) return;
        event.preventDefault();
        void send();
      }}
    >
      {replies.length > 0 && (
        <ReadyAnswers
          replies={replies}
          onChoose={(reply) => {
            setText(text.trim() === "" ? reply : `${text.trimEnd()}\n${reply}`);
            form.current?.querySelector("textarea")?.focus();
          }}
        />
      )}
      <TextField
        label="Your answer"
        rows={3}
        value={text}
        onInput={(written) => {
          // Who writes on is not written over.
          suggestion.stop();
          setText(written);
          handOff.typing();
        }}
        hint={
          replies.length > 0
            ? "Enter sends, Shift+Enter starts a new line, / and a word finds a ready answer. The visitor sees your name."
            : "Enter sends, Shift+Enter starts a new line. The visitor sees your name."
        }
      />
      <Trouble text={suggestion.trouble} />
      {named.length > 0 && (
        <ul class="named-answers" aria-label="Ready answers that fit">
          {named.map((reply, at) => (
            <li key={at}>
              <button type="button" class="button small" dir="auto" onClick={() => setText(reply)}>
                {reply}
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="actions">
        <button
          type="button"
          class="button"
          title="What the assistant would answer, for you to change and send"
          disabled={suggestion.isWriting || text.trim() !== ""}
          onClick={() => suggestion.ask(setText)}
        >
          {suggestion.isWriting ? "Writing…" : "Suggest an answer"}
        </button>
        <button
          type="button"
          class="button"
          title="The assistant goes on, and gets your note"
          disabled={handOff.isBusy}
          onClick={() => setReturning(true)}
        >
          Give back
        </button>
        <button
          type="button"
          class="button"
          title="Your part is over: the assistant answers the next message"
          disabled={handOff.isBusy}
          onClick={handOff.close}
        >
          Close
        </button>
        <button type="submit" class="button main" disabled={handOff.isBusy || text.trim() === ""}>
          Send
        </button>
      </div>
      {isReturning && <GiveBack handOff={handOff} onClose={() => setReturning(false)} />}
    </form>
  );
}

/** Has the ready answer all these words? */
function isNamed(reply: string, words: string): boolean {
  const text = reply.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function GiveBack({ handOff, onClose }: { handOff: HandOff; onClose: () => void }) {
  const [note, setNote] = useState("");
  return (
    <Dialog title="Give back to the assistant" onClose={onClose}>
      <TextField
        label="A note for the assistant"
        rows={4}
        value={note}
        onInput={setNote}
        hint="The assistant gets your messages and this note. The visitor does not see the note."
      />
      <Trouble text={handOff.trouble} />
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Keep it
        </button>
        <button
          type="button"
          class="button main"
          disabled={handOff.isBusy}
          onClick={() => void handOff.giveBack(note.trim()).then((done) => done && onClose())}
        >
          Give back
        </button>
      </div>
    </Dialog>
  );
}
