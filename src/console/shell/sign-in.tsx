import { useEffect, useState } from "preact/hooks";
import { TextField } from "../parts/fields.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { messageOf } from "../service/problem.ts";
import { beginSignIn, hasOpenId } from "./openid.ts";

/** Shown if there is no key, or it is no longer valid. */
export function SignIn({ reason, onKey }: { reason: string | null; onKey: (key: string) => void }) {
  const [key, setKey] = useState("");
  const [openId, setOpenId] = useState(false);
  const [trouble, setTrouble] = useState(reason);
  const [leaving, setLeaving] = useState(false);
  useEffect(() => setTrouble(reason), [reason]);
  useEffect(() => void hasOpenId().then(setOpenId), []);
  return (
    <main class="sign-in">
      <h1>Console</h1>
      <p class="words">
        {openId
          ? "This is where operators look after conversations. Sign in as you do elsewhere at work, or with an operator key."
          : "This is where operators look after conversations. It asks for your key; a link that a start of the service printed brings it along."}
      </p>
      <Trouble text={trouble} />
      {openId && (
        <>
          <button
            type="button"
            class="button main"
            disabled={leaving}
            onClick={() => {
              setLeaving(true);
              beginSignIn().catch((error: unknown) => {
                setTrouble(messageOf(error));
                setLeaving(false);
              });
            }}
          >
            Sign in with your account
          </button>
          <p class="or">or with a key</p>
        </>
      )}
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
          hint="Kept in this tab only, until it is closed."
        />
        <button type="submit" class={openId ? "button" : "button main"}>
          {openId ? "Sign in with the key" : "Sign in"}
        </button>
      </form>
      <p class="hint">
        No key yet? <code>npx chat-agent operators add NAME --role admin</code> makes one where the service
        runs.
      </p>
    </main>
  );
}
