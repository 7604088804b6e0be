import type { ComponentChildren, InputHTMLAttributes } from "preact";
import { useId } from "preact/hooks";

interface Common {
  label: string;
  hint?: ComponentChildren;
}

/** A line, or with `rows` a text of several. */
export function TextField({
  label,
  hint,
  value,
  onInput,
  rows,
  isWide = false,
  ...rest
}: Common & {
  /** Among filters: for a longer text than theirs. */
  isWide?: boolean;
  value: string;
  onInput: (value: string) => void;
  rows?: number;
  type?: "text" | "search" | "password" | "date";
  placeholder?: string;
  required?: boolean;
  autoFocus?: boolean;
  pattern?: string;
  inputMode?: "numeric" | "decimal" | "text";
  autocomplete?: string;
}) {
  const id = useId();
  // A cast: the attributes are typed by the value of `type`, which is known where the field is drawn.
  const attributes = rest as InputHTMLAttributes<HTMLInputElement>;
  const hintId = hint === undefined ? {} : { "aria-describedby": `${id}-hint` };
  return (
    <div class={isWide ? "field wide" : "field"}>
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <input
          id={id}
          value={value}
          spellcheck={false}
          {...hintId}
          {...attributes}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      ) : (
        <textarea
          id={id}
          value={value}
          rows={rows}
          {...hintId}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export function CheckField({
  label,
  hint,
  checked,
  onChange,
}: Common & { checked: boolean; onChange: (checked: boolean) => void }) {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>
        {label}
        {hint !== undefined && <span class="hint">{hint}</span>}
      </label>
    </div>
  );
}

export function SelectField<Value extends string>({
  label,
  hint,
  value,
  choices,
  onChoose,
}: Common & {
  value: Value;
  choices: readonly (readonly [value: Value, text: string])[];
  onChoose: (value: Value) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => {
          const chosen = choices.find(([one]) => one === event.currentTarget.value);
          if (chosen) onChoose(chosen[0]);
        }}
      >
        {choices.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  );
}
