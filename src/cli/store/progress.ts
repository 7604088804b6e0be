import type { Terminal } from "../terminal.ts";

/** One line on stderr that says how far a long command is, where a person watches; nothing elsewhere. */
export interface Progress {
  /** `text` is made only when it is shown. */
  show(text: () => string): void;
  /** Takes the line away. */
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
