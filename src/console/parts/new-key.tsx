import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

/** A key that is shown only once, to be copied. */
export function NewKey({
  title,
  keys,
  onClose,
}: {
  title: string;
  keys: readonly (readonly [name: string, key: string])[];
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="words">This secret key is shown once. Copy it now.</p>
      {keys.map(([name, key]) => (
        <KeyLine key={name} name={name} value={key} />
      ))}
      <div class="actions">
        <button type="button" class="button main" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  );
}

function KeyLine({ name, value }: { name: string; value: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
  };
  return (
    <div class="key-line">
      <span class="name">{name}</span>
      <code>{value}</code>
      <button type="button" class="button small" onClick={() => void copy().catch(() => {})}>
        <span role="status">{copied ? "Copied" : "Copy"}</span>
      </button>
    </div>
  );
}
