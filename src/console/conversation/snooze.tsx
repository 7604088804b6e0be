import { Dialog } from "../parts/dialog.tsx";

const HOUR_MS = 3_600_000;
const MORNING = 9;

/** When a conversation should come back, by the reader's clock. */
export function snoozeChoices(now: Date): [name: string, untilMs: number][] {
  const morningIn = (days: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, MORNING).getTime();
  const toMonday = (8 - now.getDay()) % 7 || 7;
  return [
    ["In an hour", now.getTime() + HOUR_MS],
    ["In four hours", now.getTime() + 4 * HOUR_MS],
    ["Tomorrow morning", morningIn(1)],
    ["Monday morning", morningIn(toMonday)],
    ["In a month", morningIn(30)],
  ];
}

export function Snooze({ onChoose, onClose }: { onChoose: (untilMs: number) => void; onClose: () => void }) {
  return (
    <Dialog title="Snooze it" onClose={onClose}>
      <p class="words">It leaves the inbox until then, or until the visitor writes. Nobody is told.</p>
      <p class="choices">
        {snoozeChoices(new Date()).map(([name, untilMs]) => (
          <button key={name} type="button" class="button" onClick={() => onChoose(untilMs)}>
            {name}
          </button>
        ))}
      </p>
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Leave it
        </button>
      </div>
    </Dialog>
  );
}
