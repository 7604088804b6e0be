import type { VNode } from "preact";
import { CLOSE } from "./icons.tsx";
import { IconButton } from "./icon-button.tsx";
import type { WidgetProps } from "./widget-props.ts";

/** The images in the composer, each with a button that removes it. */
export function DraftImageList({ state, language, actions }: WidgetProps): VNode | null {
  const { images, isFitting } = state;
  const { strings } = language;
  if (images.length === 0 && !isFitting) return null;
  return (
    <ul class="drafts" aria-busy={isFitting}>
      {images.map(({ url, name = strings.image }, nth) => (
        <li key={nth} class="draft" part="draft-image">
          <img src={url} alt={name} />
          <IconButton
            path={CLOSE}
            label={strings.removeImage.replace("{name}", name)}
            class="remove"
            part="remove-image"
            onClick={({ currentTarget }) => {
              // The button is about to disappear: the focus goes to the text.
              currentTarget.form?.querySelector("textarea")?.focus();
              actions.removeImage(nth);
            }}
          />
        </li>
      ))}
      {isFitting && (
        <li class="draft">
          <span class="spinner" />
        </li>
      )}
    </ul>
  );
}
