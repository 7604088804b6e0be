import type { DeltaLine, ProgressLine } from "../../../machines/line.ts";

/**
 * The text of a long reply is stored in parts beside its thread (Store.keepPart) as it grows, so that no process and no save
 * has all of it at once. The run's lines and its message leave that text out, in memory and in the store; reading them from
 * the store returns them whole.
 */
export interface KeptText {
  /** The number of parts; they are numbered from 0. */
  parts: number;
  /** How many UTF-16 units of the run's text are in them, from its beginning. */
  chars: number;
}

/** Images are stored as a part too, of a run id that no run has: so they are moved and deleted with the thread's parts. */
export function imagesName(runId: string): string {
  return `${runId}~images`;
}

export const NOTHING_KEPT: KeptText = { parts: 0, chars: 0 };

/** A line of a run; the first `kept` units of a delta's text are in parts. */
export type RunLine = Exclude<ProgressLine, DeltaLine> | (DeltaLine & { kept?: number });

/** Units of a line's text, in parts or not. */
export function textChars(line: RunLine): number {
  return line.type === "delta" ? line.text.length + (line.kept ?? 0) : 0;
}

/** The lines without the first `chars` units of their text in memory. */
export function withoutText(lines: readonly RunLine[], chars: number): RunLine[] {
  let left = chars;
  return lines.map((line) => {
    if (line.type !== "delta" || left === 0) return line;
    const taken = Math.min(left, line.text.length);
    left -= taken;
    return { type: "delta", text: line.text.slice(taken), kept: (line.kept ?? 0) + taken };
  });
}

/** Is some text of these lines in parts only? */
export function areInParts(lines: readonly RunLine[]): boolean {
  return lines.some((line) => line.type === "delta" && (line.kept ?? 0) > 0);
}

/** The lines with all their text. `text`: that of all the run's parts. */
export function withText(lines: readonly RunLine[], text: string): ProgressLine[] {
  let start = 0;
  return lines.map((line) => {
    if (line.type !== "delta" || !line.kept) return line;
    const end = start + line.kept;
    const whole: DeltaLine = { type: "delta", text: text.slice(start, end) + line.text };
    start = end;
    return whole;
  });
}

/** A stored run with all its text. `text`: that of all its parts. */
export function wholeRun<Run extends { lines: RunLine[] }>(run: Run, text: string): Run {
  return { ...run, lines: withText(run.lines, text) };
}

/** A stored message with all its text, and so without `kept`. `text`: that of all its run's parts. */
export function wholeMessage<Message extends { content: string; kept?: KeptText }>(
  message: Message,
  text: string,
): Omit<Message, "kept"> {
  const { kept: _, ...rest } = message;
  return { ...rest, content: text + message.content };
}
