import { useState } from "preact/hooks";
import { TextField } from "../parts/fields.tsx";

/** The conversation's labels: one is added by its name, and removed by its button. */
export function Labels({
  labels,
  onChange,
}: {
  labels: readonly string[];
  /** Resolves to true if they are set. */
  onChange: (labels: string[]) => Promise<boolean>;
}) {
  const [text, setText] = useState("");
  const add = async () => {
    const label = text.trim();
    if (label === "" || labels.includes(label)) return setText("");
    if (await onChange([...labels, label])) setText("");
  };
  return (
    <form
      class="labels"
      aria-label="Labels"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      {labels.length > 0 && (
        <p class="flags">
          {labels.map((label) => (
            <button
              key={label}
              type="button"
              class="flag label"
              title="Remove it"
              aria-label={`Remove the label ${label}`}
              onClick={() => void onChange(labels.filter((one) => one !== label))}
            >
              {label} ✕
            </button>
          ))}
        </p>
      )}
      <TextField label="Add a label" value={text} onInput={setText} placeholder="refund" />
    </form>
  );
}
