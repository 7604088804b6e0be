import type { VNode } from "preact";
import { IconButton } from "./icon-button.tsx";
import { CLOSE } from "./icons.tsx";
import type { WidgetProps } from "./widget-props.ts";

/** Closes the panel. */
export function CloseButton({ language, actions }: WidgetProps): VNode {
  return (
    <IconButton
      path={CLOSE}
      label={language.strings.close}
      class="plain"
      part="close"
      onClick={actions.toggle}
    />
  );
}
