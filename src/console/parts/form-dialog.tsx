import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { messageOf } from "../service/problem.ts";
import { Dialog } from "./dialog.tsx";
import { Trouble } from "./trouble.tsx";

/** A dialog with fields, and a button that sends them. What goes wrong is told, and the fields stay. */
export function FormDialog({
  title,
  send,
  onSend,
  onClose,
  children,
}: {
  title: string;
  /** The button's text. */
  send: string;
  onSend: () => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const submit = async () => {
    setTrouble(null);
    try {
      await onSend();
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {children}
        <Trouble text={trouble} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="button main">
            {send}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
