import type { Terminal } from "../command/terminal.ts";

/** A line on stderr with the progress of a long command, if a person watches; else nothing. */
export interface Progress {
  /** `text` is called only when the line is shown. */
  show(text: () => string): void;
  /** Removes the line. */
  end(): void;
}

const SHOWN_EVERY_MS = 200;

export function openProgress(terminal: Terminal, elapsed: () => number): Progress {
  let shownAtMs = -Infinity;
  let isShown = false;
  return {
    show(text) {
      if (!terminal.watched || elapsed() - shownAtMs < SHOWN_EVERY_MS) return;
      shownAtMs = elapsed();
      isShown = true;
      terminal.err(`\r\u001b[K${text()}`);
    },
    end() {
      if (isShown) terminal.err("\r\u001b[K");
      isShown = false;
    },
  };
}
