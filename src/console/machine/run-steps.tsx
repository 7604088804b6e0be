import type { Playback } from "./playback.ts";

/** Buttons, a slider and keys to step through the shown run. */
export function RunSteps({ playback }: { playback: Playback }) {
  const { run, count, length, go, step } = playback;
  const atBegin = !run || count === 0;
  return (
    <div class="run-steps">
      <div class="steps" role="group" aria-label="Steps of the run">
        <button type="button" onClick={() => go(0)} disabled={atBegin} aria-label="To the beginning">
          «
        </button>
        <button type="button" onClick={() => step(-1)} disabled={atBegin} aria-label="One step back">
          ‹
        </button>
        <input
          type="range"
          min={0}
          max={length}
          value={count}
          disabled={!run}
          aria-label="Place in the run"
          onInput={(event) => go(Number(event.currentTarget.value))}
        />
        <button
          type="button"
          onClick={() => step(1)}
          disabled={!run || count >= length}
          aria-label="One step on"
        >
          ›
        </button>
        <span class="place">
          {count} of {length}
        </span>
        <button type="button" class="live" aria-pressed={playback.isLive} onClick={playback.goLive}>
          Live
        </button>
      </div>
      <p class="keys">
        <kbd>←</kbd> <kbd>→</kbd> step, <kbd>Home</kbd> <kbd>End</kbd> first and last, <kbd>L</kbd> live
      </p>
    </div>
  );
}
