import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { SelectField, TextField } from "../parts/fields.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import { useConsole } from "../shell/console-context.ts";

const KINDS = [
  ["url", "A page, and what it leads to"],
  ["sitemap", "The pages of a sitemap"],
  ["folder", "A folder of the service's machine"],
] as const;

type Kind = (typeof KINDS)[number][0];

/** A new place with documents. */
export function AddSource({
  slug,
  onAdded,
  onClose,
}: {
  slug: string;
  onAdded: () => void;
  onClose: () => void;
}) {
  const { api, tell } = useConsole();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("url");
  const [place, setPlace] = useState("");
  const [every, setEvery] = useState("24h");
  const [trouble, setTrouble] = useState<string | null>(null);
  const add = async () => {
    setTrouble(null);
    try {
      await api.send("POST", pathOf("channels", slug, "knowledge"), { name, [kind]: place, every });
      tell(`${name} is being read`);
      onAdded();
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <Dialog title="Add a source" onClose={onClose}>
      <form
        class="add-source"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          required
          pattern="[A-Za-z0-9._\-]{1,64}"
          hint="1 to 64 of A-Z a-z 0-9 . _ -"
          autoFocus
        />
        <SelectField label="Kind" value={kind} choices={KINDS} onChoose={setKind} />
        <TextField
          label={kind === "folder" ? "Path" : "Address"}
          value={place}
          onInput={setPlace}
          required
          placeholder={kind === "folder" ? "/srv/help" : "https://shop.example/help/"}
        />
        <TextField label="Read every" value={every} onInput={setEvery} required hint="30m, 24h, 7d" />
        <Trouble text={trouble} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main">
            Add
          </button>
        </div>
      </form>
    </Dialog>
  );
}
