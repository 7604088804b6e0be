import type { VNode } from "preact";
import { Face } from "./face.tsx";
import { Icon, NEXT } from "./icons.tsx";
import type { WidgetProps } from "./widget-props.ts";

/** What is there before the first message: who answers, two lines, and first messages to choose from. */
export function Welcome({ attribute, suggestions, actions, language }: WidgetProps): VNode {
  const { strings } = language;
  return (
    <div class="empty">
      <slot name="empty">
        <Face picture={attribute("picture")} />
        <p class="welcome" part="welcome" dir="auto">
          {attribute("welcome") ?? strings.welcome}
        </p>
        <p class="more" dir="auto">
          {attribute("welcome-text") ?? strings.welcomeText}
        </p>
      </slot>
      <Suggestions
        texts={suggestions.length > 0 ? suggestions : listed(attribute("suggestions"))}
        send={actions.send}
      />
    </div>
  );
}

/** Messages to choose from, in rows. */
export function Suggestions(props: { texts: readonly string[]; send: (text: string) => void }): VNode | null {
  const { texts, send } = props;
  if (texts.length === 0) return null;
  return (
    <div class="rows">
      {texts.map((text) => (
        <button key={text} type="button" class="row" part="suggestion" dir="auto" onClick={() => send(text)}>
          <span>{text}</span>
          <Icon path={NEXT} />
        </button>
      ))}
    </div>
  );
}

/** As an attribute has them: with a `|` between them. */
function listed(attribute: string | null): string[] {
  const texts = attribute?.split("|").map((text) => text.trim()) ?? [];
  return texts.filter((text) => text !== "");
}
