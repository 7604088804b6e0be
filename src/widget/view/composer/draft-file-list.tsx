import type { VNode } from "preact";
import { sizeText } from "../../files/size-text.ts";
import { Icon, PAGE } from "../icons.tsx";
import { RemoveButton } from "./remove-button.tsx";
import type { WidgetProps } from "../widget-props.ts";

/** The files in the composer, each with a button that removes it. */
export function DraftFileList({ state, language }: WidgetProps): VNode | null {
  const { files, removeFile } = state;
  if (files.length === 0) return null;
  const { strings, tag } = language;
  return (
    <ul class="files drafts" aria-busy={files.some(({ taken }) => taken === null)}>
      {files.map(({ key, name, bytes, taken }) => (
        <li key={key} class="file" part="draft-file">
          {taken === null ? (
            <span class="spinner" role="img" aria-label={strings.running} />
          ) : (
            <Icon path={PAGE} />
          )}
          <span>
            <span class="name" dir="auto">
              {name}
            </span>
            <span class="size">{sizeText(bytes, tag)}</span>
          </span>
          <RemoveButton name={name} part="remove-file" strings={strings} onRemove={() => removeFile?.(key)} />
        </li>
      ))}
    </ul>
  );
}
