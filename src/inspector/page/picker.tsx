import { useState } from "preact/hooks";
import type { ThreadEntryView, UserView } from "../views.ts";
import { Select, useChoices } from "./select.tsx";
import type { Service } from "./service.ts";

/** Channel, user, thread: each list is loaded when a choice is made in the one before it. */
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
      (await service.channels()).map(({ slug: value, kind }) => ({ value, text: `${value} (${kind})` })),
    [round],
    onError,
  );
  const users = useChoices(
    async () => (slug === null ? [] : (await service.users(slug)).map(userChoice)),
    [slug, round],
    onError,
  );
  const threads = useChoices(
    async () => (slug === null || user === null ? [] : (await service.threads(slug, user)).map(threadChoice)),
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

function userChoice({ userId, displayName, externalUserId }: UserView) {
  return { value: userId, text: displayName ?? externalUserId ?? `anonymous ${userId.slice(0, 6)}` };
}

function threadChoice({ id, threadId, createdAt }: ThreadEntryView) {
  return { value: id, text: `${new Date(createdAt).toLocaleString()}, ${shortName(threadId)}` };
}

function shortName(name: string): string {
  return name.length > 24 ? `${name.slice(0, 22)}…` : name;
}
