import type { VNode } from "preact";
import { CloseButton } from "./close-button.tsx";
import { Face } from "./face.tsx";
import { IconButton } from "./icon-button.tsx";
import { ADD, BACK, LARGER, LIST, PERSON, SMALLER } from "./icons.tsx";
import { pictureOf } from "./people/picture-of.ts";
import { isRunning } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** Who answers, and what can be done with the conversation as a whole. */
export function PanelHeader(props: WidgetProps): VNode {
  const { state, inline, isExpanded, actions, language } = props;
  const { strings } = language;
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
          <WhoAnswers {...props} />
        </slot>
      )}
      {!isList && <AskPerson {...props} />}
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
        <>
          <IconButton
            path={isExpanded ? SMALLER : LARGER}
            label={isExpanded ? strings.smaller : strings.larger}
            class="plain expand"
            part="expand"
            onClick={actions.expand}
          />
          <CloseButton {...props} />
        </>
      )}
    </header>
  );
}

function WhoAnswers({ state, heading, attribute, language }: WidgetProps): VNode {
  const { strings } = language;
  const { person = null } = state;
  const isHere = person?.type === "here";
  return (
    <div class="who">
      {isHere ? (
        <Face person={person.name} picture={pictureOf(person.name, state)} />
      ) : (
        <Face picture={attribute("picture")} />
      )}
      <div>
        <h2 dir="auto">{isHere ? person.name : heading}</h2>
        <p part="subheading" dir="auto">
          {isHere ? heading : (attribute("subheading") ?? strings.subheading)}
        </p>
      </div>
    </div>
  );
}

/** While the assistant answers. */
function AskPerson({ state, language }: WidgetProps): VNode | null {
  const { handoff = false, person = null, askPerson } = state;
  if (!handoff || (person !== null && person.type !== "gone")) return null;
  return (
    <IconButton
      path={PERSON}
      label={language.strings.askPerson}
      class="plain"
      part="ask-person"
      onClick={({ currentTarget }) => {
        // The button is about to disappear: the focus goes to the text.
        currentTarget.closest(".panel")?.querySelector("textarea")?.focus();
        askPerson?.(true);
      }}
    />
  );
}

/** A ref for the button that replaces the one that was pressed. */
function takeFocus(button: HTMLElement | null): void {
  button?.focus();
}
