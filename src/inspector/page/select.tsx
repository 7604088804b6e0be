import { useEffect, useId, useState } from "preact/hooks";

export interface Choice {
  value: string;
  text: string;
}

export function Select({
  label,
  choices,
  value,
  onChoose,
}: {
  label: string;
  choices: readonly Choice[];
  value: string | null;
  onChoose: (value: string | null) => void;
}) {
  const id = useId();
  return (
    <div class="choice">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value ?? ""}
        disabled={choices.length === 0}
        onChange={(event) => onChoose(event.currentTarget.value || null)}
      >
        <option value="">{choices.length === 0 ? "none yet" : "choose"}</option>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Choices that are loaded again when an input changes; answers that come too late are dropped. */
export function useChoices(
  load: () => Promise<Choice[]>,
  inputs: readonly unknown[],
  onError: (error: unknown) => void,
): readonly Choice[] {
  const [choices, setChoices] = useState<readonly Choice[]>([]);
  useEffect(() => {
    let stale = false;
    load().then(
      (loaded) => !stale && setChoices(loaded),
      (error: unknown) => !stale && onError(error),
    );
    return () => void (stale = true);
  }, [...inputs]);
  return choices;
}
