import type { VNode } from "preact";
import { IMAGE_TYPES, MAX_IMAGES } from "../images/message-image.ts";
import { IMAGE } from "./icons.tsx";
import { IconButton } from "./icon-button.tsx";
import type { WidgetProps } from "./widget-props.ts";

/** Opens the browser's own file picker. */
export function ImageButton({ state, language, actions }: WidgetProps): VNode {
  const label = language.strings.addImages;
  return (
    <>
      <input
        type="file"
        accept={IMAGE_TYPES.join()}
        multiple
        hidden
        aria-label={label}
        onChange={({ currentTarget }) => {
          actions.addImages([...(currentTarget.files ?? [])]);
          // Reset, so that the same file can be chosen again after it was removed.
          currentTarget.value = "";
          currentTarget.form?.querySelector("textarea")?.focus();
        }}
      />
      <IconButton
        path={IMAGE}
        label={label}
        class="plain attach"
        part="add-images"
        disabled={state.images.length >= MAX_IMAGES}
        onClick={({ currentTarget }) =>
          currentTarget.form?.querySelector<HTMLInputElement>("[type=file]")?.click()
        }
      />
    </>
  );
}
