import { Component } from "preact";
import type { VNode } from "preact";
import type { Strings } from "../strings/strings.ts";
import type { Confirmation, Consent } from "./view-state.ts";

interface Props {
  confirmation: Confirmation;
  strings: Strings;
}

/** May this tool run, with these values? */
export class ConfirmationCard extends Component<Props> {
  #box: HTMLElement | null = null;

  /**
   * The question takes the focus only if the chat or nothing has it, never from the visitor's work on the page. The card
   * gets it, not one of its buttons: an Enter or a space meant for a text must not decide.
   */
  override componentDidMount(): void {
    const root = this.#box?.getRootNode();
    const isInChat = root instanceof ShadowRoot && root.activeElement !== null;
    if (isInChat || document.activeElement === document.body) this.#box?.focus();
  }

  override componentWillUnmount(): void {
    const root = this.#box?.getRootNode();
    if (root instanceof ShadowRoot && this.#box?.matches(":focus-within"))
      root.querySelector<HTMLElement>("textarea")?.focus();
  }

  override render({ confirmation, strings }: Props): VNode {
    const button = (consent: Consent, label: string, className: string) => (
      <button type="button" class={className} onClick={() => confirmation.decide(consent)}>
        {label}
      </button>
    );
    return (
      <div
        class="confirm"
        part="confirm"
        role="group"
        aria-label={strings.question}
        tabIndex={-1}
        ref={(box) => {
          this.#box = box;
        }}
      >
        <p>
          <strong>{strings.question}</strong>
        </p>
        <p dir="auto">{confirmation.title}</p>
        {confirmation.arguments.length > 0 && (
          <dl>
            {confirmation.arguments.map(([name, value]) => (
              <div key={name}>
                <dt dir="auto">{name}</dt>
                <dd dir="auto">{value}</dd>
              </div>
            ))}
          </dl>
        )}
        <div class="choices">
          {button("allow", strings.allow, "chip strong")}
          {button("decline", strings.decline, "chip")}
          {!confirmation.isOnce && button("always", strings.always, "chip")}
        </div>
      </div>
    );
  }
}
