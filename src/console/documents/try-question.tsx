import { useState } from "preact/hooks";
import { TextField } from "../parts/fields.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import { useConsole } from "../shell/console-context.ts";

interface Passage {
  title: string;
  url: string;
  text: string;
}

/** A question, and what the assistant would be given for it. */
export function TryQuestion({ slug }: { slug: string }) {
  const { api } = useConsole();
  const [question, setQuestion] = useState("");
  const [found, setFound] = useState<Passage[] | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const search = async () => {
    setTrouble(null);
    try {
      const path = `${pathOf("channels", slug, "knowledge")}/search`;
      setFound((await api.send<{ items: Passage[] }>("POST", path, { query: question })).items);
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <section class="try-question" aria-label="Try a question">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void search();
        }}
      >
        <TextField
          label="Try a question"
          value={question}
          onInput={setQuestion}
          type="search"
          placeholder="How long may I return a mug?"
          required
        />
        <button type="submit" class="button">
          Find
        </button>
      </form>
      <Trouble text={trouble} />
      <div role="status">
        {found?.length === 0 && <p class="quiet">No passage has these words.</p>}
        {found !== null && found.length > 0 && (
          <ol class="passages">
            {found.map(({ title, url, text }, nth) => (
              <li key={nth}>
                <p class="passage-of">
                  {title !== "" && <b>{title}</b>} <span class="mono quiet">{url}</span>
                </p>
                <p class="passage">{text}</p>
              </li>
            ))}
          </ol>
        )}
      </div>
    </section>
  );
}
