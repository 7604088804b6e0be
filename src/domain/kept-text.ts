import type { DeltaLine, ProgressLine } from "../../machines/line.ts";

/**
 * The text of a long reply is kept in parts beside its thread (Store.keepPart) as it grows, so that neither a process
 * nor a save has all of it at once. What is in parts is left out of the run's lines and of its message, in memory and in
 * the store; who reads them from the store gets them whole.
 */
export interface KeptText {
  /** How many there are, counted from 0. */
  parts: number;
  /** Of the run's text the first so many UTF-16 units are in them. */
  chars: number;
}

/** Images are kept as a part, too: of a run whose name no run has, so that they go wherever their thread's parts go. */
export function imagesName(runId: string): string {
  return `${runId}~images`;
}

export const NOTHING_KEPT: KeptText = { parts: 0, chars: 0 };

/** A line of a run; of a delta's text the first `kept` units may be in parts. */
export type RunLine = Exclude<ProgressLine, DeltaLine> | (DeltaLine & { kept?: number });

/** Units of a line's text, wherever they are. */
export function textChars(line: RunLine): number {
  return line.type === "delta" ? line.text.length + (line.kept ?? 0) : 0;
}

/** The lines without the first `chars` units of the text that is in them. */
export function withoutText(lines: readonly RunLine[], chars: number): RunLine[] {
  let left = chars;
  return lines.map((line) => {
    if (line.type !== "delta" || left === 0) return line;
    const taken = Math.min(left, line.text.length);
    left -= taken;
    return { type: "delta", text: line.text.slice(taken), kept: (line.kept ?? 0) + taken };
  });
}

/** Is text of these lines in parts, as they were read? */
export function areInParts(lines: readonly RunLine[]): boolean {
  return lines.some((line) => line.type === "delta" && (line.kept ?? 0) > 0);
}

/** The lines whole. `text`: of all the run's parts. */
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

/** A run as it was stored, whole. `text`: of all its parts. */
export function wholeRun<Run extends { lines: RunLine[] }>(run: Run, text: string): Run {
  return { ...run, lines: withText(run.lines, text) };
}

/** A message as it was stored, whole, and so without `kept`. `text`: of all its run's parts. */
export function wholeMessage<Message extends { content: string; kept?: KeptText }>(
  message: Message,
  text: string,
): Omit<Message, "kept"> {
  const { kept: _, ...rest } = message;
  return { ...rest, content: text + message.content };
}
