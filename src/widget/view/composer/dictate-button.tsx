import { Component } from "preact";
import type { VNode } from "preact";
import { IconButton } from "../icon-button.tsx";
import { MICROPHONE } from "../icons.tsx";
import type { WidgetProps } from "../widget-props.ts";

/** What is used of the browser's speech recognition (https://webaudio.github.io/web-speech-api/). */
interface Recognition {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  onresult: ((event: { results: ArrayLike<ArrayLike<{ transcript: string }>> }) => void) | null;
  onend: (() => void) | null;
  onerror: (() => void) | null;
  start(): void;
  stop(): void;
}

type MakeRecognition = new () => Recognition;

/** null: the browser has none. */
export function speechRecognition(): MakeRecognition | null {
  const { SpeechRecognition, webkitSpeechRecognition } = globalThis as unknown as Partial<
    Record<"SpeechRecognition" | "webkitSpeechRecognition", MakeRecognition>
  >;
  return SpeechRecognition ?? webkitSpeechRecognition ?? null;
}

/** Writes into the composer what is said, behind what is written there. A second press ends it. */
export class DictateButton extends Component<WidgetProps, { isListening: boolean }> {
  override state = { isListening: false };
  #recognition: Recognition | null = null;

  override componentWillUnmount(): void {
    this.#recognition?.stop();
  }

  override render({ language }: WidgetProps, { isListening }: { isListening: boolean }): VNode {
    return (
      <IconButton
        path={MICROPHONE}
        label={language.strings.dictate}
        class="plain attach"
        part="dictate"
        aria-pressed={isListening}
        onClick={() => this.#toggle()}
      />
    );
  }

  #toggle(): void {
    const Recognition = speechRecognition();
    if (this.#recognition !== null) this.#recognition.stop();
    else if (Recognition !== null) this.#listen(new Recognition());
  }

  #listen(recognition: Recognition): void {
    const { state, language, actions } = this.props;
    const before = state.draft === "" ? "" : `${state.draft.trimEnd()} `;
    recognition.lang = language.tag;
    recognition.continuous = true;
    recognition.interimResults = true;
    recognition.onresult = ({ results }) =>
      actions.draft(before + Array.from(results, (said) => said[0]?.transcript ?? "").join(""));
    // Also after an error, for instance where the visitor does not let the page hear.
    recognition.onend = () => this.#hears(null);
    this.#hears(recognition);
    recognition.start();
  }

  #hears(recognition: Recognition | null): void {
    this.#recognition = recognition;
    this.setState({ isListening: recognition !== null });
  }
}
