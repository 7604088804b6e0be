import type { ProgressLine, TerminalLine } from "../../../machines/line.ts";
import type { InstanceMessage } from "../../store.ts";

/**
 * What instances tell each other of a run. Types, not interfaces: those would be no records, and so no messages.
 * Best effort, and perhaps of another version of this service: what does not fit is no message.
 */

/** Send me what this run says from a position on. */
export type FollowMessage = {
  type: "follow";
  uid: string;
  runId: string;
  from: number;
  /** The process that asks. */
  to: string;
};

/** What the run said from a position on. */
export type SaidMessage = {
  type: "said";
  runId: string;
  /** Who says it, and what of the run was saved when it took the run. */
  fence: string;
  base: number;
  from: number;
  lines: ProgressLine[];
  terminal: TerminalLine | null;
};

export function readFollow(message: InstanceMessage): FollowMessage | null {
  const { type, uid, runId, from, to } = message;
  if (type !== "follow" || typeof uid !== "string" || typeof runId !== "string") return null;
  if (typeof from !== "number" || typeof to !== "string") return null;
  return { type, uid, runId, from, to };
}

export function readSaid(message: InstanceMessage): SaidMessage | null {
  const { type, runId, fence, base, from, lines, terminal } = message;
  if (type !== "said" || typeof runId !== "string" || typeof fence !== "string") return null;
  if (typeof base !== "number" || typeof from !== "number") return null;
  if (!Array.isArray(lines) || !lines.every(isProgress)) return null;
  if (terminal !== null && !isTerminalLine(terminal)) return null;
  return { type, runId, fence, base, from, lines, terminal };
}

function isProgress(line: unknown): line is ProgressLine {
  if (!isRecord(line) || typeof line["text"] !== "string") return false;
  return line["type"] === "delta" || (line["type"] === "step" && typeof line["id"] === "string");
}

function isTerminalLine(line: unknown): line is TerminalLine {
  if (!isRecord(line)) return false;
  switch (line["type"]) {
    case "tool_call":
      return typeof line["callId"] === "string" && typeof line["tool"] === "string";
    case "done":
      return typeof line["elapsedMs"] === "number";
    case "error":
      return typeof line["message"] === "string";
    default:
      return false;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
