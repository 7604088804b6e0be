import { streamMachine } from "../../machines/stream.ts";
import type { Line } from "../../machines/line.ts";
import { createHost } from "./host.ts";

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
}

/** The writing end of a reply. */
export interface OpenReply extends Reply {
  /** Passes lines through the stream's chart to the reader; what comes after the end is dropped. */
  say(lines: readonly Line[]): void;
  /** True once a terminal line was said, or the reader left. */
  readonly over: boolean;
}

const host = createHost<typeof streamMachine, Line>(streamMachine, 0);

export function createReply(runId: string, onLeave: () => void = () => {}): OpenReply {
  let stream = host.initial();
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
        const { next, outcome } = host.decide(stream, { type: "line.said", line });
        stream = next;
        for (const item of outcome) if (item.kind === "emitted") passed.push(item.line);
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
