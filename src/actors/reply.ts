import { isTerminal } from "../../machines/line.ts";
import type { Line } from "../../machines/line.ts";
import { streamMachine } from "../../machines/stream.ts";
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
const open = host.initial();

/**
 * Does the open stream pass progress on as it is, and stay as it is? The chart is asked once, for what it says to one
 * such line it says to all of them (S1): of each line it would cost a fifth of what a delta costs.
 */
const passesProgress = ((): boolean => {
  const line: Line = { type: "delta", text: "" };
  const { changed, outcome } = host.decide(open, { type: "line.said", line });
  return !changed && outcome.length === 1 && outcome[0]?.kind === "emitted" && outcome[0].line === line;
})();

export function createReply(runId: string, onLeave: () => void = () => {}): OpenReply {
  let stream = open;
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
        if (passesProgress && stream === open && !isTerminal(line)) {
          passed.push(line);
          continue;
        }
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
