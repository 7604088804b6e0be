import { isDeepStrictEqual } from "node:util";
import { isTerminal } from "../../../machines/line.ts";
import type { Line, ProgressLine, TerminalLine } from "../../../machines/line.ts";
import { textOf } from "../../domain/threads/fold-steps.ts";
import { NOTHING_KEPT, textChars, withoutText, withText } from "../../domain/threads/kept-text.ts";
import type { KeptText, RunLine } from "../../domain/threads/kept-text.ts";
import type { OpenReply } from "./reply.ts";

/**
 * The lines of a run, as far as this process knows them, and the readers of the run.
 *
 * Adjacent deltas are joined, so a log grows with the reply's text and the number of its steps, not with the number of
 * lines. A place in a log is a position: the number of UTF-16 units of text, and of steps, before it. Positions mean the
 * same on every instance, however the deltas were split.
 */
export interface RunLog {
  readonly runId: string;
  /** Without the text that is stored in parts. */
  readonly lines: readonly RunLine[];
  /** The position after the last line. */
  readonly position: number;
  /** UTF-16 units of text, including the stored parts. */
  readonly textChars: number;
  /** How the present stream ended; null while it is open. */
  readonly terminal: TerminalLine | null;
  readonly readers: ReadonlySet<OpenReply>;
  /** How much of the text is stored in parts. */
  readonly kept: KeptText;
  /** The text after the stored parts. */
  readonly rest: string;
  /** Adds lines, and passes them to the readers unchanged. A terminal line ends every reader's stream. */
  say(lines: readonly Line[]): void;
  /** The first units of `rest` are now stored as one more part: drops them from memory. */
  noteKept(chars: number): void;
  /** Ends every reader's stream at once, with a line that is not the run's own. */
  cut(line: TerminalLine): void;
  /** True if all lines since `from` are in memory. */
  has(from: number): boolean;
  /**
   * Sends a reader the lines since `from`, then new ones. `keptText`: the text of all parts, if some of it is needed. A
   * reader may be ahead of this log: it may know a save whose answer has not arrived here yet.
   */
  attach(reply: OpenReply, from: number, keptText?: string): void;
  /** The position up to which a reader has been sent lines. */
  toldTo(reply: OpenReply): number;
}

/** A line's length in positions. */
export function extent(line: RunLine): number {
  return line.type === "delta" ? textChars(line) : 1;
}

/** Position after all of these lines. */
export function positionAfter(lines: readonly RunLine[]): number {
  return lines.reduce((sum, line) => sum + extent(line), 0);
}

function keptIn(line: RunLine): number {
  return line.type === "delta" ? (line.kept ?? 0) : 0;
}

/** The lines after a position; their text must be in memory. */
export function linesSince(lines: readonly RunLine[], from: number): ProgressLine[] {
  const since: ProgressLine[] = [];
  let position = 0;
  for (const line of lines) {
    const start = position;
    position += extent(line);
    if (position <= from) continue;
    if (line.type === "delta" && start < from)
      since.push({ type: "delta", text: line.text.slice(from - start - keptIn(line)) });
    else since.push(line);
  }
  return since;
}

/** Is `said` a prefix of `whole`? Both need adjacent deltas joined, and all text in memory. */
export function beginsWith(whole: readonly ProgressLine[], said: readonly ProgressLine[]): boolean {
  return said.every((line, i) => {
    const other = whole[i];
    if (line.type !== "delta" || other?.type !== "delta") return isDeepStrictEqual(line, other);
    return i === said.length - 1 ? other.text.startsWith(line.text) : other.text === line.text;
  });
}

/** Appends a line to a list of lines, joining adjacent deltas. */
export function joinLine(lines: RunLine[], line: ProgressLine): void {
  const last = lines.at(-1);
  if (line.type === "delta" && last?.type === "delta") {
    // A new object: a reader or a save may hold the old one.
    const text = last.text + line.text;
    lines[lines.length - 1] = last.kept ? { type: "delta", text, kept: last.kept } : { type: "delta", text };
  } else {
    lines.push(line);
  }
}

/** `said`: the full lines of a run that continues; `keptBefore`: how much of their text is stored in parts. */
export function createRunLog(
  runId: string,
  said: readonly ProgressLine[] = [],
  keptBefore: KeptText = NOTHING_KEPT,
): RunLog {
  return new Log(runId, said, keptBefore);
}

// A class: each open stream has one, and an object of closures and getters takes 1.7 kB more.
class Log implements RunLog {
  readonly runId: string;
  readonly readers = new Set<OpenReply>();
  lines: RunLine[];
  position: number;
  textChars: number;
  terminal: TerminalLine | null = null;
  kept: KeptText;
  /** The positions of readers that are ahead of this log. */
  #ahead: Map<OpenReply, number> | null = null;

  constructor(runId: string, said: readonly ProgressLine[], kept: KeptText) {
    this.runId = runId;
    this.kept = kept;
    this.lines = withoutText(said, kept.chars);
    this.position = positionAfter(this.lines);
    this.textChars = this.lines.reduce((sum, line) => sum + textChars(line), 0);
  }

  get rest(): string {
    return textOf(this.lines);
  }

  say(said: readonly Line[]): void {
    const start = this.position;
    for (const line of said) {
      if (isTerminal(line)) {
        this.terminal = line;
        continue;
      }
      joinLine(this.lines, line);
      this.position += extent(line);
      if (line.type === "delta") this.textChars += line.text.length;
    }
    for (const reply of this.readers) {
      const news = this.#newsTo(reply, said, start);
      if (news.length > 0) reply.say(news);
      if (reply.over) this.readers.delete(reply);
    }
  }

  noteKept(chars: number): void {
    this.lines = withoutText(this.lines, chars);
    this.kept = { parts: this.kept.parts + 1, chars: this.kept.chars + chars };
  }

  cut(line: TerminalLine): void {
    for (const reply of this.readers) reply.say([line]);
    this.readers.clear();
  }

  has(from: number): boolean {
    if (this.kept.parts === 0) return true;
    let position = 0;
    for (const line of this.lines) {
      const inParts = keptIn(line);
      if (inParts > 0 && position + inParts > from) return false;
      position += extent(line);
    }
    return true;
  }

  attach(reply: OpenReply, from: number, keptText = ""): void {
    const since: Line[] = linesSince(keptText === "" ? this.lines : withText(this.lines, keptText), from);
    if (this.terminal) since.push(this.terminal);
    reply.say(since);
    if (reply.over) return;
    this.readers.add(reply);
    if (from > this.position) (this.#ahead ??= new Map()).set(reply, from);
  }

  toldTo(reply: OpenReply): number {
    return Math.max(this.position, this.#ahead?.get(reply) ?? 0);
  }

  /** Those of the lines from `start` on that a reader does not know yet. */
  #newsTo(reply: OpenReply, said: readonly Line[], start: number): readonly Line[] {
    const known = (this.#ahead?.get(reply) ?? start) - start;
    if (known <= 0) return said;
    const progress = said.filter((line) => !isTerminal(line));
    return [...linesSince(progress, known), ...said.filter(isTerminal)];
  }
}
