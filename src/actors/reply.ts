import { isTerminal } from "../../machines/line.ts";
import type { Line } from "../../machines/line.ts";
import { streamHost } from "./charts.ts";

/**
 * One open stream, as its reader sees it: lines, the last of which is terminal.
 * What was said before somebody reads is kept and given at once.
 */
export interface Reply {
  /** The run that this stream tells of. */
  readonly runId: string;
  /** One reader. `take` is given one or more lines at a time; nothing comes after a terminal one. */
  read(take: (lines: Line[]) => void): void;
  /** The reader is gone; the run goes on. */
  leave(): void;
  /**
   * Only where all of it is said, and long: the same lines as `read` gives, a piece at a time, so that it is read from the
   * store as fast as it is passed on.
   */
  pieces?: () => AsyncGenerator<Line[]>;
}

/** The writing end of a reply. */
export interface OpenReply extends Reply {
  /** Passes lines to the reader; what comes after the end is dropped. */
  say(lines: readonly Line[]): void;
  /** True once a terminal line was said, or the reader left. */
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
