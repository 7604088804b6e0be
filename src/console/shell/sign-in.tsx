import { useState } from "preact/hooks";
import { TextField } from "../parts/fields.tsx";
import { Trouble } from "../parts/trouble.tsx";

/** Where there is no key, or it is not valid any more. */
export function SignIn({ reason, onKey }: { reason: string | null; onKey: (key: string) => void }) {
  const [key, setKey] = useState("");
  return (
    <main class="sign-in">
      <h1>Console</h1>
      <p class="words">
        This is where operators look after conversations. It asks for your key; a link that a start of the
        service printed brings it along.
      </p>
      <Trouble text={reason} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() !== "") onKey(key.trim());
        }}
      >
        <TextField
          label="Your operator key"
          type="password"
          value={key}
          onInput={setKey}
          placeholder="op_…"
          required
          autoFocus
          autocomplete="off"
          hint="Kept in this tab alone, and forgotten with it."
        />
        <button type="submit" class="button main">
          Sign in
        </button>
      </form>
      <p class="hint">
        No key yet? <code>npx chat-agent operators add NAME --role admin</code> makes one where the service
        runs.
      </p>
    </main>
  );
}
