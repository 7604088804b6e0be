import { useState } from "preact/hooks";
import { TextField } from "../parts/fields.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import type { UserView } from "../service/views.ts";

/** An empty name takes the name away. */
export function Rename({
  user,
  onName,
  onClose,
}: {
  user: UserView;
  onName: (name: string | null) => Promise<void>;
  onClose: () => void;
}) {
  const [name, setName] = useState(user.displayName ?? "");
  return (
    <FormDialog
      title="Rename"
      send="Rename"
      onSend={() => onName(name.trim() === "" ? null : name.trim())}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        hint="Shown to operators and given to the model. Empty: no name."
        autoFocus
      />
    </FormDialog>
  );
}
