import type { VNode } from "preact";
import { IconButton } from "../icon-button.tsx";
import { CLOSE } from "../icons.tsx";
import type { Strings } from "../../strings/strings.ts";

/** Takes a file or an image out of the composer. */
export function RemoveButton(props: {
  name: string;
  part: string;
  strings: Strings;
  onRemove: () => void;
}): VNode {
  const { name, part, strings, onRemove } = props;
  return (
    <IconButton
      path={CLOSE}
      label={strings.removeImage.replace("{name}", name)}
      class="remove"
      part={part}
      onClick={({ currentTarget }) => {
        // The button is about to disappear: the focus goes to the text.
        currentTarget.form?.querySelector("textarea")?.focus();
        onRemove();
      }}
    />
  );
}
