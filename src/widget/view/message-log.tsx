import { Component } from "preact";
import type { VNode } from "preact";
import { DOWN } from "./icons.tsx";
import { IconButton } from "./icon-button.tsx";
import { MessageBubble } from "./message/message-bubble.tsx";
import { PeopleLines } from "./people/people-lines.tsx";
import { pictureOf } from "./people/picture-of.ts";
import { Suggestions, Welcome } from "./welcome.tsx";
import { isRunning } from "./view-state.ts";
import type { ShownMessage } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** A visitor within this distance of the end is reading the newest message. */
const NEAR_END_PX = 48;

/** The messages. Scrolls with the newest one, unless the visitor reads further up. */
export class MessageLog extends Component<WidgetProps, { isAtEnd: boolean }> {
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
    const { messages } = this.props.state;
    const newest = messages.findLast(({ role }) => role === "user");
    // A message from elsewhere does not scroll away what the visitor is reading.
    const isOwnNew = newest?.key !== this.#newest && newest?.key.startsWith("l") === true;
    if (this.state.isAtEnd || isOwnNew) this.#toEnd();
    // Older messages were added above: the scroll position stays with what is being read.
    else if (messages[0]?.key !== this.#oldest && this.#box !== null) {
      this.#box.scrollTop += this.#box.scrollHeight - this.#heightBefore;
    }
    this.#remember();
  }

  override render(props: WidgetProps, { isAtEnd }: { isAtEnd: boolean }): VNode {
    const { state, actions, attribute, language } = props;
    const { strings } = language;
    return (
      <div class="middle">
        <div
          class="log"
          part="log"
          role="log"
          // A growing text would be read aloud piece by piece; the status region announces finished texts.
          aria-live="off"
          aria-label={props.heading}
          tabIndex={0}
          ref={(box) => {
            this.#box = box;
          }}
          onScroll={() => this.#noteScroll()}
          onClick={(event) => {
            const link = event.target instanceof Element ? event.target.closest("a") : null;
            if (link !== null && !actions.follow(link.href)) event.preventDefault();
          }}
        >
          {state.hasEarlier && (
            <button type="button" class="chip earlier" part="earlier" onClick={actions.earlier}>
              {strings.earlier}
            </button>
          )}
          {state.messages.length === 0 && <Welcome {...props} />}
          {state.messages.map((message, nth) => [
            <PeopleLines {...props} nth={nth} />,
            <MessageBubble
              key={message.key}
              message={message}
              isFirst={isFirst(message, state.messages[nth - 1])}
              picture={message.author ? pictureOf(message.author, state) : attribute("picture")}
              hasFormulas={attribute("formulas") !== null}
              language={language}
              retry={actions.retry}
              saveFile={state.saveFile}
            />,
          ])}
          <PeopleLines {...props} nth={state.messages.length} />
          {!isRunning(state.phase) && <Suggestions texts={props.followUps} send={actions.send} />}
        </div>
        {!isAtEnd && (
          <IconButton
            path={DOWN}
            label={strings.latest}
            class="latest"
            part="latest"
            onClick={() => this.#toEnd()}
          />
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
    const { messages } = this.props.state;
    this.#newest = messages.findLast(({ role }) => role === "user")?.key;
    this.#oldest = messages[0]?.key;
    this.#heightBefore = this.#box?.scrollHeight ?? 0;
  }
}

/** Does it begin what somebody says? */
function isFirst({ role, author }: ShownMessage, before: ShownMessage | undefined): boolean {
  return before?.role !== role || before.author !== author;
}
