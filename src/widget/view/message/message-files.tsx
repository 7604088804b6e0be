import type { VNode } from "preact";
import { sizeText } from "../../files/size-text.ts";
import type { MessageFile } from "../../files/message-file.ts";
import { Icon, PAGE } from "../icons.tsx";

/** The files of a visitor's message. They are saved, never opened here. */
export function MessageFiles(props: {
  files: readonly MessageFile[];
  /** Of the language in use. */
  tag: string;
  save: ((file: MessageFile) => void) | undefined;
}): VNode {
  const { files, tag, save } = props;
  return (
    <ul class="files">
      {files.map((file) => (
        <li key={file.id}>
          <button type="button" class="file" part="file" onClick={() => save?.(file)}>
            <Icon path={PAGE} />
            <span>
              <span class="name" dir="auto">
                {file.name}
              </span>
              <span class="size">{sizeText(file.bytes, tag)}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
