import type { VNode } from "preact";
import { Face } from "./face.tsx";
import { IconButton } from "./icon-button.tsx";
import { CLOSE } from "./icons.tsx";
import { pictureOf } from "./people/picture-of.ts";
import type { WidgetProps } from "./widget-props.ts";

/** Beside the launcher of a closed panel: what somebody has just said to the visitor, unasked. */
export function Teaser(props: WidgetProps): VNode | null {
  const { state, open, inline, attribute, language, actions } = props;
  const { teaser } = state;
  if (!teaser || open || inline || state.unread === 0) return null;
  const { author, text, dismiss } = teaser;
  return (
    <div class="teaser" part="teaser">
      <button type="button" class="said" onClick={actions.toggle}>
        <Face person={author} picture={author ? pictureOf(author, state) : attribute("picture")} />
        <span dir="auto">
          <b>{author ?? props.heading}</b>
          {text}
        </span>
      </button>
      <IconButton path={CLOSE} label={language.strings.dismiss} class="plain" onClick={dismiss} />
    </div>
  );
}
