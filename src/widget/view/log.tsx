import { Component } from "preact";
import type { VNode } from "preact";
import type { Item } from "./state.ts";
import { IconButton } from "./icon-button.tsx";
import { Message } from "./message.tsx";
import type { WidgetProps } from "./widget-props.ts";

/** So near to the end counts as reading the end. */
const NEAR_END_PX = 48;

/** The messages. Follows the newest one as long as the visitor is reading there. */
export class Log extends Component<WidgetProps, { isAtEnd: boolean }> {
  override state = { isAtEnd: true };
  #box: HTMLElement | null = null;
  #newest: string | undefined;
  #heightBefore = 0;
  #oldest: string | undefined;

  override componentDidMount(): void {
    this.#toEnd();
    this.#remember();
  }

  override componentDidUpdate(): void {
    const { items } = this.props.shown;
    const isOwnNew = items.findLast((item) => item.role === "user")?.key !== this.#newest;
    if (this.state.isAtEnd || isOwnNew) this.#toEnd();
    // Older messages above: what is being read stays where it is.
    else if (items[0]?.key !== this.#oldest && this.#box !== null) {
      this.#box.scrollTop += this.#box.scrollHeight - this.#heightBefore;
    }
    this.#remember();
  }

  override render(props: WidgetProps, { isAtEnd }: { isAtEnd: boolean }): VNode {
    const { shown, suggestions, actions } = props;
    const { strings } = props.language;
    return (
      <div class="middle">
        <div
          class="log"
          part="log"
          role="log"
          // A growing text read aloud piece by piece is no help: the status region speaks what is finished.
          aria-live="off"
          aria-label={props.heading}
          tabIndex={0}
          ref={(box) => {
            this.#box = box;
          }}
          onScroll={() => this.#noteScroll()}
        >
          {shown.hasEarlier && (
            <button type="button" class="chip earlier" onClick={actions.earlier}>
              {strings.earlier}
            </button>
          )}
          {shown.items.length === 0 && (
            <div class="empty">
              <slot name="empty">
                <p class="welcome" dir="auto">
                  {props.welcome}
                </p>
              </slot>
              {suggestions.map((text) => (
                <button key={text} type="button" class="chip" dir="auto" onClick={() => actions.send(text)}>
                  {text}
                </button>
              ))}
            </div>
          )}
          {shown.items.map((item: Item) => (
            <Message key={item.key} item={item} strings={strings} retry={actions.retry} />
          ))}
        </div>
        {!isAtEnd && (
          <IconButton icon="down" label={strings.latest} class="latest" onClick={() => this.#toEnd()} />
        )}
      </div>
    );
  }

  #noteScroll(): void {
    const box = this.#box;
    if (box === null) return;
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX;
    if (isAtEnd !== this.state.isAtEnd) this.setState({ isAtEnd });
  }

  #toEnd(): void {
    if (this.#box !== null) this.#box.scrollTop = this.#box.scrollHeight;
  }

  #remember(): void {
    const { items } = this.props.shown;
    this.#newest = items.findLast((item) => item.role === "user")?.key;
    this.#oldest = items[0]?.key;
    this.#heightBefore = this.#box?.scrollHeight ?? 0;
  }
}
