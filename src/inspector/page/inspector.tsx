import { useMemo, useState } from "preact/hooks";
import type { Outline } from "../../../machines/draw/outline.ts";
import { Chart } from "./chart.tsx";
import { litAfter, litIn } from "./lit.ts";
import { Picker } from "./picker.tsx";
import { useReplay } from "./replay.ts";
import type { Replay } from "./replay.ts";
import { Moves, Present, Runs, Talk } from "./run-panel.tsx";
import { RunSteps } from "./run-steps.tsx";
import type { Seen } from "./seen.ts";
import type { Service } from "./service.ts";
import { useWatchedThread } from "./watched-thread.ts";

/** A thread shown in its chart: live, or step by step through one of its runs. */
export function Inspector({
  service,
  outline,
  onError,
}: {
  service: Service;
  outline: Outline;
  onError: (error: unknown) => void;
}) {
  const [threadId, setThreadId] = useState<string | null>(null);
  const seen = useWatchedThread(service, threadId, onError);
  const replay = useReplay(threadId, seen.runs);
  return (
    <>
      <header>
        <h1>Machines</h1>
        <Picker service={service} onPick={setThreadId} onError={onError} />
        <p class="mode" role="status">
          {statusOf(threadId, seen, replay)}
        </p>
      </header>
      <main>
        <Picture outline={outline} seen={seen} replay={replay} />
        <aside>
          {threadId === null && (
            <p class="hint">
              Choose a channel, a user and a thread. Its chart shows where it is, and each run can be stepped
              through again.
            </p>
          )}
          <ThreadPanel seen={seen} replay={replay} />
        </aside>
      </main>
    </>
  );
}

function Picture({ outline, seen, replay }: { outline: Outline; seen: Seen; replay: Replay }) {
  const { run, count, isLive } = replay;
  const state = seen.thread?.state ?? "idle";
  const lit = useMemo(
    // A run may move before its path is known here: if live, the saved state counts.
    () =>
      run && (!isLive || run.path.at(-1)?.state === state)
        ? litAfter(outline, run.path, count)
        : litIn(outline, state),
    [outline, run, count, isLive, state],
  );
  const now = run ? (run.path[count - 1]?.state ?? "idle") : state;
  return (
    <section class="picture" aria-label="The thread's chart">
      <Chart lit={lit} label={`Statechart of a thread; now ${now}`} picture="/machines/thread.svg" />
      <RunSteps replay={replay} />
    </section>
  );
}

function ThreadPanel({ seen, replay }: { seen: Seen; replay: Replay }) {
  const { run, count, go, show } = replay;
  return (
    <>
      {seen.thread && <Present thread={seen.thread} />}
      {seen.runs.length > 0 && (
        <>
          <h2>Runs</h2>
          <Runs runs={seen.runs} shown={run?.runId ?? null} onShow={show} />
        </>
      )}
      {run && (
        <>
          <h2>Moves</h2>
          <Moves run={run} count={count} onGo={go} />
          <h2>Said</h2>
          <Talk
            messages={seen.messages.filter((message) => message.runId === run.runId)}
            lines={seen.said.runId === run.runId ? seen.said.lines : null}
          />
        </>
      )}
    </>
  );
}

function statusOf(threadId: string | null, seen: Seen, { isLive }: Replay): string {
  if (threadId === null) return "";
  if (seen.trouble !== null) return seen.trouble;
  if (!seen.looked) return "Looking";
  if (seen.thread === null) return "Nothing was said here yet";
  return isLive ? "Live" : "Replay";
}
