import { isTerminal } from "../../../machines/line.ts";
import type { Line } from "../../../machines/line.ts";
import { streamHost } from "../../charts/charts.ts";

/**
 * One open stream, as its reader sees it: lines, the last of which is terminal.
 * Lines from before the first read are kept, and passed to the reader at once.
 */
export interface Reply {
  /** The run whose lines these are. */
  readonly runId: string;
  /** Sets the one reader. `take` gets one or more lines at a time, and nothing after a terminal line. */
  read(take: (lines: Line[]) => void): void;
  /** The reader is gone; the run goes on. */
  leave(): void;
  /**
   * Only for a long reply that is complete: the same lines as `read` gives, a piece at a time, so that the store is read
   * only as fast as the client takes them.
   */
  pieces?: () => AsyncGenerator<Line[]>;
}

/** The writing end of a reply. */
export interface OpenReply extends Reply {
  /** Passes lines to the reader; lines after the terminal one are dropped. */
  say(lines: readonly Line[]): void;
  /** True once a terminal line has passed, or the reader has left. */
  readonly over: boolean;
}

export function createReply(runId: string, onLeave: () => void = () => {}): OpenReply {
  return new StreamReply(runId, onLeave);
}

// A class: each open stream has one.
class StreamReply implements OpenReply {
  readonly runId: string;
  readonly #onLeave: () => void;
  #stream = streamHost.initial();
  #take: ((lines: Line[]) => void) | null = null;
  #unread: Line[] = [];
  #left = false;

  constructor(runId: string, onLeave: () => void) {
    this.runId = runId;
    this.#onLeave = onLeave;
  }

  get over(): boolean {
    return this.#left || this.#stream.status === "done";
  }

  say(lines: readonly Line[]): void {
    if (this.#left) return;
    const passed: Line[] = [];
    for (const line of lines) {
      if (this.#stream.status === "done") break;
      if (isTerminal(line))
        this.#stream = streamHost.decide(this.#stream, { type: "terminal.said", line }).next;
      passed.push(line);
    }
    if (passed.length === 0) return;
    if (this.#take) this.#take(passed);
    else this.#unread.push(...passed);
  }

  read(take: (lines: Line[]) => void): void {
    this.#take = take;
    const kept = this.#unread;
    this.#unread = [];
    if (kept.length > 0) take(kept);
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#take = null;
    this.#unread = [];
    this.#onLeave();
  }
}
