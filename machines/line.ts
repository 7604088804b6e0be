/**
 * The lines of a stream: what a client reads, one JSON object per line (the spec, Stream).
 * A stream is `(delta | step)* terminal`: exactly one terminal line, and it is the last.
 */

/** A chunk of reply text to append. */
export interface DeltaLine {
  type: "delta";
  text: string;
}

export type StepPhase = "running" | "done" | "failed";

/** Progress; a later step with the same id replaces the earlier one. */
export interface StepLine {
  type: "step";
  id: string;
  phase: StepPhase;
  text: string;
}

/** Ends the stream: the client runs the page tool and posts its result, which opens a new stream. */
export interface ToolCallLine {
  type: "tool_call";
  tool: string;
  arguments: Record<string, unknown>;
  callId: string;
}

/** The goal was reached. Tokens of this run, and of the thread so far; the run's two are absent if it has no usage. */
export interface DoneLine {
  type: "done";
  elapsedMs: number;
  inputTokens?: number;
  outputTokens?: number;
  totalInputTokens?: number;
  totalOutputTokens?: number;
  /** Only if something cut the model short: `length`, `content_filter`, or another reason that its server gives. */
  finishReason?: string;
  /** A person answers, or was asked for: the model writes no more in this run. */
  handledBy?: "person";
}

/**
 * Why a run, or only this stream of it, ended badly. Without a code: a fault on the server side.
 * Only `interrupted` says that the run goes on; re-attach to follow it.
 */
export type ErrorCode =
  | "task_failed"
  | "cancelled"
  | "expired"
  | "superseded"
  | "interrupted"
  | "deleted"
  | "budget_exceeded";

export interface ErrorLine {
  type: "error";
  message: string;
  code?: ErrorCode;
  /** The run's last tool answer, at most 400 characters; only with `task_failed`. */
  hint?: string;
}

export type TerminalLine = ToolCallLine | DoneLine | ErrorLine;
export type ProgressLine = DeltaLine | StepLine;
export type Line = ProgressLine | TerminalLine;

/** True for the line types that end a stream. */
export function isTerminal(line: Line): line is TerminalLine {
  return line.type !== "delta" && line.type !== "step";
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
