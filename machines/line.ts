import type { Line, TerminalLine } from "../src/protocol/lines.ts";

/** The lines of a stream, which the charts emit: src/protocol/lines.ts says what they are. */
export type {
  DeltaLine,
  DoneLine,
  ErrorCode,
  ErrorLine,
  Line,
  ProgressLine,
  Source,
  StepLine,
  StepPhase,
  TerminalLine,
  ToolCallLine,
} from "../src/protocol/lines.ts";

/** True for the line types that end a stream. */
export function isTerminal(line: Line): line is TerminalLine {
  return line.type === "done" || line.type === "error" || line.type === "tool_call";
}

/** A tool answer cut to a hint: at most 400 UTF-16 units, never inside a surrogate pair (the spec, Limits). */
export function hintFrom(text: string): string {
  return cutText(text, 400);
}

/** The first `limitChars` UTF-16 units of a text, one fewer where the cut would fall inside a surrogate pair. */
export function cutText(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text;
  const last = text.charCodeAt(limitChars - 1);
  const cutsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, cutsPair ? limitChars - 1 : limitChars);
}
