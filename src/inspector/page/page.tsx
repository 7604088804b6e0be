import { render } from "preact";
import { useEffect, useMemo, useReducer, useState } from "preact/hooks";
import type { Outline } from "../../../machines/draw/outline.ts";
import type { Sight } from "../views.ts";
import { Chart } from "./chart.tsx";
import { forgetKey, takeKey } from "./key.ts";
import { litAfter, litIn } from "./lit.ts";
import { Picker } from "./picker.tsx";
import { Moves, Present, Runs, Talk } from "./run-panel.tsx";
import { nothingSeen, withSight } from "./seen.ts";
import type { Seen } from "./seen.ts";
import { WrongKey, createService } from "./service.ts";
import type { Service } from "./service.ts";

/** Where the chart stands: at the present, or at a place in a run. */
interface Place {
  runId: string;
  /** So many of its moves were made. */
  count: number;
}

function Inspector({
  service,
  outline,
  onError,
}: {
  service: Service;
  outline: Outline;
  onError: (error: unknown) => void;
}) {
  const [threadId, setThreadId] = useState<string | null>(null);
  const [seen, tell] = useReducer(
    (state: Seen, sight: Sight | "forget") => (sight === "forget" ? nothingSeen : withSight(state, sight)),
    nothingSeen,
  );
  /** null: live. */
  const [place, setPlace] = useState<Place | null>(null);

  useEffect(() => {
    tell("forget");
    setPlace(null);
    if (threadId === null) return;
    const watching = new AbortController();
    service.watch(threadId, tell, watching.signal).catch(onError);
    return () => watching.abort();
  }, [threadId]);

  const last = seen.runs.at(-1) ?? null;
  const run = place === null ? last : (seen.runs.find(({ runId }) => runId === place.runId) ?? last);
  const count = place === null ? (run?.path.length ?? 0) : place.count;
  const state = seen.thread?.state ?? "idle";
  const lit = useMemo(
    // A run may move before its path is known here: live, the saved state is the truth.
    () =>
      run && (place !== null || run.path.at(-1)?.state === state)
        ? litAfter(outline, run.path, count)
        : litIn(outline, state),
    [outline, run, count, place, state],
  );

  const go = (to: number) => {
    if (run) setPlace({ runId: run.runId, count: Math.min(Math.max(0, to), run.path.length) });
  };
  /** From where the last press led, which may not be drawn yet. */
  const step = (by: number) => {
    if (!run) return;
    const most = run.path.length;
    setPlace((before) => ({
      runId: run.runId,
      count: Math.min(Math.max(0, (before?.count ?? most) + by), most),
    }));
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey || isField(event.target)) return;
      const keys: Record<string, () => void> = {
        ArrowLeft: () => step(-1),
        ArrowRight: () => step(1),
        Home: () => go(0),
        End: () => go(run?.path.length ?? 0),
        l: () => setPlace(null),
      };
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });

  const ofRun = seen.messages.filter((message) => message.runId === run?.runId);
  return (
    <>
      <header>
        <h1>Machines</h1>
        <Picker service={service} onPick={setThreadId} onError={onError} />
        <p class="mode" role="status">
          {statusOf(threadId, seen, place)}
        </p>
      </header>
      <main>
        <section class="picture" aria-label="The thread's chart">
          <Chart
            lit={lit}
            label={`Statechart of a thread; now ${run ? (run.path[count - 1]?.state ?? "idle") : state}`}
          />
          <div class="steps" role="group" aria-label="Steps of the run">
            <button
              type="button"
              onClick={() => go(0)}
              disabled={!run || count === 0}
              aria-label="To the beginning"
            >
              «
            </button>
            <button
              type="button"
              onClick={() => step(-1)}
              disabled={!run || count === 0}
              aria-label="One step back"
            >
              ‹
            </button>
            <input
              type="range"
              min={0}
              max={run?.path.length ?? 0}
              value={count}
              disabled={!run}
              aria-label="Place in the run"
              onInput={(event) => go(Number(event.currentTarget.value))}
            />
            <button
              type="button"
              onClick={() => step(1)}
              disabled={!run || count >= run.path.length}
              aria-label="One step on"
            >
              ›
            </button>
            <span class="place">
              {count} of {run?.path.length ?? 0}
            </span>
            <button type="button" class="live" aria-pressed={place === null} onClick={() => setPlace(null)}>
              Live
            </button>
          </div>
          <p class="keys">
            <kbd>←</kbd> <kbd>→</kbd> step, <kbd>Home</kbd> <kbd>End</kbd> first and last, <kbd>L</kbd> live
          </p>
        </section>
        <aside>
          {threadId === null && (
            <p class="hint">
              Choose a channel, a user and a thread. Its chart shows where it is, and each run can be stepped
              through again.
            </p>
          )}
          {seen.thread && <Present thread={seen.thread} />}
          {seen.runs.length > 0 && (
            <>
              <h2>Runs</h2>
              <Runs
                runs={seen.runs}
                shown={run?.runId ?? null}
                onShow={(runId) => {
                  const chosen = seen.runs.find((one) => one.runId === runId);
                  if (chosen) setPlace({ runId, count: chosen.path.length });
                }}
              />
            </>
          )}
          {run && (
            <>
              <h2>Moves</h2>
              <Moves run={run} count={count} onGo={go} />
              <h2>Said</h2>
              <Talk messages={ofRun} lines={seen.said.runId === run.runId ? seen.said.lines : null} />
            </>
          )}
        </aside>
      </main>
    </>
  );
}

function statusOf(threadId: string | null, seen: Seen, place: Place | null): string {
  if (threadId === null) return "";
  if (seen.trouble !== null) return seen.trouble;
  if (!seen.looked) return "Looking";
  if (seen.thread === null) return "Nothing was said here yet";
  return place === null ? "Live" : "Replay";
}

/** Arrows and letters are the field's own there. */
function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && ["INPUT", "SELECT"].includes(target.tagName);
}

function Closed({ reason }: { reason: string }) {
  return (
    <main class="closed">
      <h1>Machines</h1>
      <p>{reason}</p>
      <p>The service prints the link that opens this page when it starts.</p>
    </main>
  );
}

function Page({ service, outline }: { service: Service; outline: Outline }) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const [closed, setClosed] = useState(false);
  const fail = (error: unknown) => {
    if (error instanceof WrongKey) {
      forgetKey();
      setClosed(true);
    } else {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
  };
  if (closed) return <Closed reason="This key is not the service's." />;
  return (
    <>
      {trouble !== null && (
        <p class="trouble" role="alert">
          {trouble}
        </p>
      )}
      <Inspector service={service} outline={outline} onError={fail} />
    </>
  );
}

const key = takeKey();
if (key === null) {
  render(<Closed reason="This page needs its key." />, document.body);
} else {
  const outline = (await (await fetch("/machines/thread.json")).json()) as Outline;
  render(<Page service={createService(key)} outline={outline} />, document.body);
}
