import { useState } from "preact/hooks";
import { sizeText } from "../parts/numbers.ts";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import { download } from "../service/save-as.ts";
import type { MessageView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";

/** Where a conversation is: the channel, and the thread's id. */
export interface ConversationPlace {
  slug: string;
  id: string;
}

/** The files of a visitor's message. They are saved, never opened here: strangers have made them. */
export function MessageFiles({
  files,
  place: { slug, id },
}: {
  files: NonNullable<MessageView["files"]>;
  place: ConversationPlace;
}) {
  const { api } = useConsole();
  const [trouble, setTrouble] = useState<string | null>(null);
  const save = async (file: (typeof files)[number]) => {
    try {
      const path = pathOf("channels", slug, "threads", id, "files", file.id);
      const body = await api.open(path, {}, AbortSignal.timeout(60_000));
      download(file.name, await new Response(body).blob());
      setTrouble(null);
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <>
      <ul class="files" aria-label="Files">
        {files.map((file) => (
          <li key={file.id}>
            <button type="button" class="button file" onClick={() => void save(file)}>
              <span dir="auto">{file.name}</span> <span class="quiet">{sizeText(file.bytes)}</span>
            </button>
          </li>
        ))}
      </ul>
      <Trouble text={trouble} />
    </>
  );
}
