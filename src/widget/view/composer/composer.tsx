import type { VNode } from "preact";
import { SEND, STOP } from "../icons.tsx";
import { IconButton } from "../icon-button.tsx";
import { DictateButton, speechRecognition } from "./dictate-button.tsx";
import { DraftImageList } from "./draft-image-list.tsx";
import { AttachButton } from "./attach-button.tsx";
import { DraftFileList } from "./draft-file-list.tsx";
import { PersonBar } from "../people/person-bar.tsx";
import { isRunning } from "../view-state.ts";
import type { WidgetProps } from "../widget-props.ts";

/** From this many remaining characters on, a counter shows them. */
const COUNTED_CHARS = 100;

/** The key code of a key that an input method handles. */
const COMPOSING = 229;

export function Composer(props: WidgetProps): VNode {
  const { state, maxChars, isSetUp, actions } = props;
  const { strings } = props.language;
  const { draft, phase, isQueued, images, files, isFitting } = state;
  const left = maxChars - draft.length;
  const running = isRunning(phase);
  const maySend = (text: string) =>
    isSetUp &&
    phase !== "offline" &&
    !isFitting &&
    files.every(({ taken }) => taken !== null) &&
    // Files may be sent without a word.
    (text.trim() !== "" || files.length > 0) &&
    text.length <= maxChars;
  const send = (text: string) => {
    if (!maySend(text)) return;
    const queue = (state.speaksAtOnce && state.sayNow) || actions.queue;
    (running ? queue : actions.send)(text);
  };
  return (
    <>
      <PersonBar {...props} />
      <form
        class="composer"
        part="composer"
        onSubmit={(event) => {
          event.preventDefault();
          send(draft);
        }}
      >
        <DraftImageList {...props} />
        <DraftFileList {...props} />
        <AttachButton {...props} />
        <DraftField {...props} send={send} />
        {props.attribute("dictation") !== null && speechRecognition() !== null && (
          <DictateButton {...props} />
        )}
        {running ? (
          <IconButton path={STOP} label={strings.stop} class="send" part="stop" onClick={actions.stop} />
        ) : (
          <IconButton
            path={SEND}
            label={strings.send}
            class="send"
            part="send"
            type="submit"
            disabled={!maySend(draft)}
          />
        )}
      </form>
      {(left <= COUNTED_CHARS || isQueued) && (
        <p class={left < 0 ? "below bad" : "below"} role="status" key={left}>
          {isQueued
            ? strings.queued
            : (left < 0 ? strings.over : strings.left).replace("{n}", String(Math.abs(left)))}
        </p>
      )}
      {images.length > 0 && files.length === 0 && draft.trim() === "" && (
        <p class="below" role="status">
          {strings.imagesNeedText}
        </p>
      )}
    </>
  );
}

function DraftField(props: WidgetProps & { send: (text: string) => void }): VNode {
  const { state, maxChars, isSetUp, actions, send } = props;
  const placeholder = props.attribute("placeholder") ?? props.language.strings.placeholder;
  const { draft } = state;
  return (
    <textarea
      rows={1}
      // An empty field with dir="auto" would put the placeholder on the left in every language.
      dir={draft === "" ? undefined : "auto"}
      value={draft}
      placeholder={placeholder}
      aria-label={placeholder}
      aria-invalid={draft.length > maxChars}
      disabled={!isSetUp}
      enterkeyhint="send"
      onInput={(event) => actions.draft(event.currentTarget.value)}
      onKeyDown={(event) => {
        // An Enter that ends an input method's composition is part of the text. Safari shows that only by the key code.
        if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === COMPOSING)
          return;
        event.preventDefault();
        // The field's own text: the draft may lack the last letter, which is not rendered yet.
        send(event.currentTarget.value);
      }}
    />
  );
}
