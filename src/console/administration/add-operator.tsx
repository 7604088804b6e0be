import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { CheckField, SelectField, TextField } from "../parts/fields.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { messageOf } from "../service/problem.ts";
import type { OperatorView, Role } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";

const ROLES = [
  ["agent", "Agent"],
  ["auditor", "Auditor"],
  ["admin", "Admin"],
] as const;

const MAY: Record<Role, string> = {
  agent: "Reads and answers conversations; blocks, whitelists and renames users.",
  auditor: "Sees ids, times and the audit, and never a text or a name.",
  admin: "May do everything, deletion included.",
};

export function AddOperator({
  onAdded,
  onClose,
}: {
  onAdded: (operator: OperatorView & { key: string }) => void;
  onClose: () => void;
}) {
  const { api, channels } = useConsole();
  const [name, setName] = useState("");
  const [displayName, setDisplayName] = useState("");
  const [role, setRole] = useState<Role>("agent");
  const [limit, setLimit] = useState<readonly string[]>([]);
  const [trouble, setTrouble] = useState<string | null>(null);
  const add = async () => {
    setTrouble(null);
    try {
      const shown = displayName.trim() === "" ? {} : { displayName: displayName.trim() };
      const body = { name: name.trim(), ...shown, role, channels: limit.length === 0 ? null : limit };
      onAdded(await api.send("POST", "/operators", body));
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <Dialog title="Add an operator" onClose={onClose}>
      <form
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
          autoFocus
          hint="The name shown in the audit."
        />
        <TextField
          label="Display name"
          value={displayName}
          onInput={setDisplayName}
          hint="What visitors call the person; empty: the name."
        />
        <SelectField label="Role" value={role} choices={ROLES} onChoose={setRole} hint={MAY[role]} />
        <fieldset>
          <legend>Limited to channels</legend>
          <p class="hint">None selected: all channels and the installation.</p>
          {(channels ?? []).map(({ slug }) => (
            <CheckField
              key={slug}
              label={slug}
              checked={limit.includes(slug)}
              onChange={(isIn) => setLimit(isIn ? [...limit, slug] : limit.filter((one) => one !== slug))}
            />
          ))}
        </fieldset>
        <Trouble text={trouble} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="button main">
            Add
          </button>
        </div>
      </form>
    </Dialog>
  );
}
