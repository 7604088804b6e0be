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
  let stream = streamHost.initial();
  let take: ((lines: Line[]) => void) | null = null;
  let unread: Line[] = [];
  let left = false;

  return {
    runId,

    get over() {
      return left || stream.status === "done";
    },

    say(lines) {
      if (left) return;
      const passed: Line[] = [];
      for (const line of lines) {
        if (stream.status === "done") break;
        if (isTerminal(line)) stream = streamHost.decide(stream, { type: "terminal.said", line }).next;
        passed.push(line);
      }
      if (passed.length === 0) return;
      if (take) take(passed);
      else unread.push(...passed);
    },

    read(reader) {
      take = reader;
      const kept = unread;
      unread = [];
      if (kept.length > 0) reader(kept);
    },

    leave() {
      if (left) return;
      left = true;
      take = null;
      unread = [];
      onLeave();
    },
  };
}
