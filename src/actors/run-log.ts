import { isTerminal } from "../../machines/line.ts";
import type { Line, ProgressLine, TerminalLine } from "../../machines/line.ts";
import type { OpenReply } from "./reply.ts";

/**
 * What a run has said, as this process knows it, and who is reading along.
 *
 * Adjacent deltas are joined, so a log grows with the reply's text and the number of its steps, not with the number of
 * lines. A place in a log is a position: the number of text units (UTF-16) and steps said before it. Positions mean
 * the same on every instance, however the deltas were cut.
 */
export interface RunLog {
  readonly runId: string;
  readonly lines: readonly ProgressLine[];
  /** Position after everything said so far. */
  readonly position: number;
  /** Units of text among it. */
  readonly textChars: number;
  /** How the present stream ended; null while it is open. */
  readonly terminal: TerminalLine | null;
  readonly readers: ReadonlySet<OpenReply>;
  /** Adds lines, and gives them to the readers as they are. A terminal line ends every reader's stream. */
  say(lines: readonly Line[]): void;
  /** Ends every reader's stream here and now, with a line that is not the run's own. */
  cut(line: TerminalLine): void;
  /** Gives what was said since `from`, then what comes. */
  attach(reply: OpenReply, from: number): void;
}

/** How much room a line takes in positions. */
function extent(line: ProgressLine): number {
  return line.type === "delta" ? line.text.length : 1;
}

/** Position after all of these lines. */
export function positionAfter(lines: readonly ProgressLine[]): number {
  return lines.reduce((sum, line) => sum + extent(line), 0);
}

/** The part of the lines that was said after a position. */
export function linesSince(lines: readonly ProgressLine[], from: number): ProgressLine[] {
  const since: ProgressLine[] = [];
  let position = 0;
  for (const line of lines) {
    const start = position;
    position += extent(line);
    if (position <= from) continue;
    if (line.type === "delta" && start < from)
      since.push({ type: "delta", text: line.text.slice(from - start) });
    else since.push(line);
  }
  return since;
}

/** Appends a line to a list of lines, joining adjacent deltas. */
export function joinLine(lines: ProgressLine[], line: ProgressLine): void {
  const last = lines.at(-1);
  if (line.type === "delta" && last?.type === "delta") {
    // A new object: the old one may be in the hands of a reader or a save.
    lines[lines.length - 1] = { type: "delta", text: last.text + line.text };
  } else {
    lines.push(line);
  }
}

export function createRunLog(runId: string, said: readonly ProgressLine[] = []): RunLog {
  const lines: ProgressLine[] = [...said];
  const readers = new Set<OpenReply>();
  let position = positionAfter(lines);
  let terminal: TerminalLine | null = null;
  let textChars = lines.reduce((sum, line) => sum + (line.type === "delta" ? line.text.length : 0), 0);

  return {
    runId,
    lines,
    readers,

    get position() {
      return position;
    },

    get textChars() {
      return textChars;
    },

    get terminal() {
      return terminal;
    },

    say(said) {
      for (const line of said) {
        if (isTerminal(line)) {
          terminal = line;
          continue;
        }
        joinLine(lines, line);
        position += extent(line);
        if (line.type === "delta") textChars += line.text.length;
      }
      for (const reply of readers) {
        reply.say(said);
        if (reply.over) readers.delete(reply);
      }
    },

    cut(line) {
      for (const reply of readers) reply.say([line]);
      readers.clear();
    },

    attach(reply, from) {
      const since: Line[] = linesSince(lines, from);
      if (terminal) since.push(terminal);
      reply.say(since);
      if (!reply.over) readers.add(reply);
    },
  };
}
