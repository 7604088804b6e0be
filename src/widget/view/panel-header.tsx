import type { VNode } from "preact";
import { IconButton } from "./icon-button.tsx";
import { ADD, BACK, CLOSE, LIST } from "./icons.tsx";
import { isRunning } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** Who answers, and what can be done with the conversation as a whole. */
export function PanelHeader(props: WidgetProps): VNode {
  const { state, inline, actions } = props;
  const { strings } = props.language;
  const isList = state.threads !== null;
  const isResting = !isRunning(state.phase);
  return (
    <header class="header" part="header">
      {isList ? (
        <>
          <IconButton
            path={BACK}
            label={strings.back}
            class="plain back"
            part="back"
            ref={takeFocus}
            onClick={actions.closeThreads}
          />
          <h2>{strings.chats}</h2>
        </>
      ) : (
        <slot name="header">
          <h2>{props.heading}</h2>
        </slot>
      )}
      {!isList && props.hasThreads && isResting && (
        <IconButton
          path={LIST}
          label={strings.chats}
          class="plain list"
          part="list"
          onClick={actions.threads}
        />
      )}
      {state.messages.length > 0 && isResting && (
        <IconButton path={ADD} label={strings.newChat} class="plain" part="new" onClick={actions.newThread} />
      )}
      {!inline && (
        <IconButton path={CLOSE} label={strings.close} class="plain" part="close" onClick={actions.toggle} />
      )}
    </header>
  );
}

/** A ref for the button that replaces the one that was pressed. */
function takeFocus(button: HTMLElement | null): void {
  button?.focus();
}
