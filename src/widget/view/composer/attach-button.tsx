import type { VNode } from "preact";
import { FILE_ENDINGS, MAX_FILES } from "../../files/message-file.ts";
import { IMAGE_TYPES, MAX_IMAGES } from "../../images/message-image.ts";
import { CLIP, IMAGE } from "../icons.tsx";
import { IconButton } from "../icon-button.tsx";
import type { ViewState } from "../view-state.ts";
import type { WidgetProps } from "../widget-props.ts";

/** Opens the browser's own file dialog, for what the channel accepts: images, files, or both. */
export function AttachButton({ state, language, actions }: WidgetProps): VNode | null {
  const { imageRoom, fileBytes = null, images, files } = state;
  if (imageRoom === null && fileBytes === null) return null;
  const label = fileBytes === null ? language.strings.addImages : language.strings.addFiles;
  const accept = [...IMAGE_TYPES, ...(fileBytes === null ? [] : [FILE_ENDINGS])];
  const isFull =
    (imageRoom === null || images.length >= MAX_IMAGES) && (fileBytes === null || files.length >= MAX_FILES);
  return (
    <>
      <input
        type="file"
        accept={accept.join()}
        multiple
        hidden
        aria-label={label}
        onChange={({ currentTarget }) => {
          attach(state, actions, [...(currentTarget.files ?? [])]);
          // Reset, so that the same file can be chosen again after it was removed.
          currentTarget.value = "";
          currentTarget.form?.querySelector("textarea")?.focus();
        }}
      />
      <IconButton
        path={fileBytes === null ? IMAGE : CLIP}
        label={label}
        class="plain attach"
        part="add-images"
        disabled={isFull}
        onClick={({ currentTarget }) =>
          currentTarget.form?.querySelector<HTMLInputElement>("[type=file]")?.click()
        }
      />
    </>
  );
}

/** Images go beside the text where the channel accepts images; everything else is a file. */
export function attach(
  { imageRoom, fileBytes = null, addFiles }: ViewState,
  { addImages }: Pick<WidgetProps["actions"], "addImages">,
  chosen: readonly File[],
): void {
  const isImage = ({ type }: File) => imageRoom !== null && IMAGE_TYPES.includes(type);
  // Without files the images say themselves which of them are none.
  const images = fileBytes === null ? chosen : chosen.filter(isImage);
  const files = fileBytes === null ? [] : chosen.filter((file) => !isImage(file));
  if (images.length > 0) addImages(images);
  if (files.length > 0) addFiles?.(files);
}
