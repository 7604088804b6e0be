import { useLayoutEffect, useState } from "preact/hooks";
import type { RunView } from "../../operators/accounts/sight.ts";

/** A place in a run at which the chart is shown. */
interface Place {
  runId: string;
  /** How many of its moves have been made. */
  count: number;
}

export interface Playback {
  isLive: boolean;
  /** The run that is shown; null: there is none. */
  run: RunView | null;
  /** How many of its `length` moves have been made. */
  count: number;
  length: number;
  goLive: () => void;
  /** Goes to the place after that many moves of the shown run. */
  go: (to: number) => void;
  step: (by: number) => void;
  /** Goes to the end of another run. */
  show: (runId: string) => void;
}

/** Steps through the runs of a thread with buttons and keys; live at first. */
export function usePlayback(runs: readonly RunView[]): Playback {
  /** null: live. */
  const [place, setPlace] = useState<Place | null>(null);

  const last = runs.at(-1) ?? null;
  const run = place === null ? last : (runs.find(({ runId }) => runId === place.runId) ?? last);
  const length = run?.path.length ?? 0;
  const within = (count: number) => Math.min(Math.max(0, count), length);

  const playback: Playback = {
    isLive: place === null,
    run,
    count: place?.count ?? length,
    length,
    goLive: () => setPlace(null),
    go: (to) => {
      if (run) setPlace({ runId: run.runId, count: within(to) });
    },
    // Relative to the place of the last press, which may not be drawn yet.
    step: (by) => {
      if (run) setPlace((before) => ({ runId: run.runId, count: within((before?.count ?? length) + by) }));
    },
    show: (runId) => {
      const chosen = runs.find((one) => one.runId === runId);
      if (chosen) setPlace({ runId, count: chosen.path.length });
    },
  };
  useKeys(playback);
  return playback;
}

function useKeys({ step, go, goLive, length }: Playback): void {
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey || isField(event.target)) return;
      const keys: Record<string, () => void> = {
        ArrowLeft: () => step(-1),
        ArrowRight: () => step(1),
        Home: () => go(0),
        End: () => go(length),
        l: goLive,
      };
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

/** In these elements, arrows and letters belong to the field, or scroll the conversation. */
function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, select, textarea, dialog, [role=log]") !== null;
}
