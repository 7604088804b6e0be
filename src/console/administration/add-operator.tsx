import { useState } from "preact/hooks";
import { CheckField, SelectField, TextField } from "../parts/fields.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
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
  const add = async () => {
    const shown = displayName.trim() === "" ? {} : { displayName: displayName.trim() };
    const body = { name: name.trim(), ...shown, role, channels: limit.length === 0 ? null : limit };
    onAdded(await api.send("POST", "/operators", body));
  };
  return (
    <FormDialog title="Add an operator" send="Add" onSend={add} onClose={onClose}>
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
    </FormDialog>
  );
}
