/**
 * Measures how long a server has been silent, while this process runs: a time in which it stood still (SIGSTOP, a machine that
 * slept) says nothing about the server, whose words may be waiting here. So the limit is counted in parts, and a part that took
 * far longer than its time counts as none.
 */
export interface SilenceTimer {
  /** The server said something: counts from 0. */
  heard(): void;
  stop(): void;
}

const PARTS = 4;
/** A busy event loop is late, too: a part counts unless it took so many times as long as it should. */
const MOST_LATE = 2;

/** Starts counting; `onSilence` is called once, after `silenceMs`. */
export function startSilenceTimer(silenceMs: number, onSilence: () => void): SilenceTimer {
  const partMs = silenceMs / PARTS;
  let parts = 0;
  let begunAt = performance.now();
  let timer = setTimeout(passed, partMs);

  function passed(): void {
    const now = performance.now();
    if (now - begunAt <= partMs * MOST_LATE) parts += 1;
    begunAt = now;
    if (parts === PARTS) onSilence();
    else timer = setTimeout(passed, partMs);
  }

  return {
    heard() {
      parts = 0;
      begunAt = performance.now();
      timer.refresh();
    },
    stop: () => clearTimeout(timer),
  };
}
