import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { TextField } from "../parts/fields.tsx";
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
    <Dialog title="Rename" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void onName(name.trim() === "" ? null : name.trim());
        }}
      >
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          hint="Shown to operators and given to the model. Empty: no name."
          autoFocus
        />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="button main">
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}
