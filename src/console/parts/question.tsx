import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { messageOf } from "../service/problem.ts";
import { Dialog } from "./dialog.tsx";
import { Trouble } from "./trouble.tsx";

/** Asks before something that cannot be undone. The first button changes nothing. */
export function Question({
  title,
  yes,
  onYes,
  onClose,
  children,
}: {
  title: string;
  yes: string;
  onYes: () => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const act = async () => {
    setBusy(true);
    setTrouble(null);
    try {
      await onYes();
    } catch (error) {
      setTrouble(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="words">{children}</div>
      <Trouble text={trouble} />
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Leave it
        </button>
        <button type="button" class="button bad" disabled={isBusy} onClick={() => void act()}>
          {yes}
        </button>
      </div>
    </Dialog>
  );
}
