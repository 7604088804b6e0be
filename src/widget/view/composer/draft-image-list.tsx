import type { VNode } from "preact";
import { RemoveButton } from "./remove-button.tsx";
import type { WidgetProps } from "../widget-props.ts";

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
          <RemoveButton
            name={name}
            part="remove-image"
            strings={strings}
            onRemove={() => actions.removeImage(nth)}
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
