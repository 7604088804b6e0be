import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { RunView } from "../views.ts";

/** Where the chart stands: at the present, or at a place in a run. */
interface Place {
  runId: string;
  /** So many of its moves were made. */
  count: number;
}

export interface Replay {
  isLive: boolean;
  /** The run on show; null: there is none. */
  run: RunView | null;
  /** So many of its moves were made, of `length`. */
  count: number;
  length: number;
  goLive: () => void;
  /** To that many moves of the run on show. */
  go: (to: number) => void;
  step: (by: number) => void;
  /** To the end of another run. */
  show: (runId: string) => void;
}

/** Steps through the runs of a thread, by buttons and keys; another thread begins live. */
export function useReplay(threadId: string | null, runs: readonly RunView[]): Replay {
  /** null: live. */
  const [place, setPlace] = useState<Place | null>(null);
  useEffect(() => setPlace(null), [threadId]);

  const last = runs.at(-1) ?? null;
  const run = place === null ? last : (runs.find(({ runId }) => runId === place.runId) ?? last);
  const length = run?.path.length ?? 0;
  const within = (count: number) => Math.min(Math.max(0, count), length);

  const replay: Replay = {
    isLive: place === null,
    run,
    count: place?.count ?? length,
    length,
    goLive: () => setPlace(null),
    go: (to) => {
      if (run) setPlace({ runId: run.runId, count: within(to) });
    },
    // From where the last press led, which may not be drawn yet.
    step: (by) => {
      if (run) setPlace((before) => ({ runId: run.runId, count: within((before?.count ?? length) + by) }));
    },
    show: (runId) => {
      const chosen = runs.find((one) => one.runId === runId);
      if (chosen) setPlace({ runId, count: chosen.path.length });
    },
  };
  useKeys(replay);
  return replay;
}

function useKeys({ step, go, goLive, length }: Replay): void {
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

/** Arrows and letters are the field's own there, or scroll what was said. */
function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, select, textarea, dialog, [role=log]") !== null;
}
