import { useEffect, useId, useState } from "preact/hooks";
import type { Service } from "./service.ts";

interface Choice {
  value: string;
  text: string;
}

/** Channel, user, thread: each list is asked for when the one before it is chosen. */
export function Picker({
  service,
  onPick,
  onError,
}: {
  service: Service;
  onPick: (threadId: string | null) => void;
  onError: (error: unknown) => void;
}) {
  const [slug, setSlug] = useState<string | null>(null);
  const [user, setUser] = useState<string | null>(null);
  const [thread, setThread] = useState<string | null>(null);
  const [round, setRound] = useState(0);

  const channels = useChoices(
    async () =>
      (await service.channels()).map((one) => ({ value: one.slug, text: `${one.slug} (${one.kind})` })),
    [round],
    onError,
  );
  const users = useChoices(
    async () =>
      slug === null
        ? []
        : (await service.users(slug)).map((one) => ({
            value: one.userId,
            text: one.displayName ?? one.externalUserId ?? `anonymous ${one.userId.slice(0, 6)}`,
          })),
    [slug, round],
    onError,
  );
  const threads = useChoices(
    async () =>
      slug === null || user === null
        ? []
        : (await service.threads(slug, user)).map((one) => ({
            value: one.id,
            text: `${new Date(one.createdAt).toLocaleString()}, ${shortName(one.threadId)}`,
          })),
    [slug, user, round],
    onError,
  );

  const pick = (id: string | null) => {
    setThread(id);
    onPick(id);
  };
  return (
    <form class="picker" onSubmit={(event) => event.preventDefault()}>
      <Select
        label="Channel"
        choices={channels}
        value={slug}
        onChoose={(value) => {
          setSlug(value);
          setUser(null);
          pick(null);
        }}
      />
      <Select
        label="User"
        choices={users}
        value={user}
        onChoose={(value) => {
          setUser(value);
          pick(null);
        }}
      />
      <Select label="Thread" choices={threads} value={thread} onChoose={pick} />
      <button type="button" class="plain" onClick={() => setRound(round + 1)}>
        Look again
      </button>
    </form>
  );
}

function Select({
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

function useChoices(
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

function shortName(name: string): string {
  return name.length > 24 ? `${name.slice(0, 22)}…` : name;
}
