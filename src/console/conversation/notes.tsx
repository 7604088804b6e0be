import { useState } from "preact/hooks";
import { TextField } from "../parts/fields.tsx";
import { Time } from "../parts/times.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { useLoaded } from "../parts/use-loaded.ts";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import type { NoteView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";

/** What operators note for each other. Reading them is in the audit: they are loaded when they are opened. */
export function Notes({ slug, id }: { slug: string; id: string }) {
  const { api } = useConsole();
  const path = pathOf("channels", slug, "threads", id, "notes");
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const [trouble, setTrouble] = useState<string | null>(null);
  const notes = useLoaded<NoteView[]>(
    async (signal) =>
      isOpen ? (await api.get<{ items: NoteView[] }>(path, {}, signal)).items : Promise.resolve([]),
    [path, isOpen],
  );
  const add = async () => {
    const said = text.trim();
    if (said === "") return;
    try {
      await api.send("POST", path, { text: said });
      setTrouble(null);
      setText("");
      notes.reload();
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <details class="notes" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Notes for colleagues</summary>
      <ul>
        {(notes.value ?? []).map((note) => (
          <li key={note.id}>
            <p class="who">
              {note.by} <Time at={note.at} />
            </p>
            <p class="text" dir="auto">
              {note.text}
            </p>
          </li>
        ))}
      </ul>
      <Trouble text={trouble ?? notes.trouble} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <TextField
          label="A note"
          rows={2}
          value={text}
          onInput={setText}
          hint="The visitor and the assistant never see it."
        />
        <div class="actions">
          <button type="submit" class="button small" disabled={text.trim() === ""}>
            Add the note
          </button>
        </div>
      </form>
    </details>
  );
}
