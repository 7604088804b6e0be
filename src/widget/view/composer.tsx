import type { VNode } from "preact";
import { IconButton } from "./icon-button.tsx";
import { isRunning } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** From here on a counter shows how many characters are left. */
const COUNTED_CHARS = 100;

export function Composer(props: WidgetProps): VNode {
  const { state, maxChars, actions } = props;
  const { strings } = props.language;
  const { draft, phase } = state;
  const left = maxChars - draft.length;
  const running = isRunning(phase);
  const maySend = (text: string) =>
    !running && phase !== "blocked" && phase !== "offline" && text.trim() !== "" && text.length <= maxChars;
  const send = (text: string) => {
    if (maySend(text)) actions.send(text);
  };
  return (
    <form
      class="composer"
      part="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send(draft);
      }}
    >
      <DraftField {...props} send={send} />
      {left <= COUNTED_CHARS && (
        <span class="left" role="status">
          {strings.left.replace("{n}", String(left))}
        </span>
      )}
      {running ? (
        <IconButton icon="stop" label={strings.stop} class="send" part="stop" onClick={actions.stop} />
      ) : (
        <IconButton
          icon="send"
          label={strings.send}
          class="send"
          part="send"
          type="submit"
          disabled={!maySend(draft)}
        />
      )}
    </form>
  );
}

function DraftField(props: WidgetProps & { send: (text: string) => void }): VNode {
  const { state, placeholder, maxChars, actions, send } = props;
  const { draft, phase } = state;
  return (
    <textarea
      rows={1}
      // An empty field with dir="auto" would put the placeholder on the left in every language.
      dir={draft === "" ? undefined : "auto"}
      value={draft}
      placeholder={placeholder}
      aria-label={placeholder}
      aria-invalid={draft.length > maxChars}
      disabled={phase === "blocked"}
      enterkeyhint="send"
      onInput={(event) => actions.draft(event.currentTarget.value)}
      onKeyDown={(event) => {
        // An Enter that ends an input method's composition is part of the text.
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        // The field's own text: the draft may lack the last letter, which is not drawn yet.
        send(event.currentTarget.value);
      }}
    />
  );
}
