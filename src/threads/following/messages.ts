import { isTerminal } from "../../../machines/line.ts";
import { isLine } from "../../protocol/fits.ts";
import type { ProgressLine, TerminalLine } from "../../protocol/lines.ts";
import type { InstanceMessage } from "../../store.ts";

/**
 * The messages between instances about a run. Types, because an interface is not assignable to InstanceMessage. Best
 * effort; the sender may be another version of this service, so messages of another shape are ignored.
 */

/** Asks for the lines of a run from a position on. */
export type FollowMessage = {
  type: "follow";
  uid: string;
  runId: string;
  from: number;
  /** The process that asks. */
  to: string;
};

/** The lines of a run from a position on. */
export type SaidMessage = {
  type: "said";
  runId: string;
  /** The holder's fence, and the saved position when it claimed the run. */
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
  if (terminal !== null && !(isLine(terminal) && isTerminal(terminal))) return null;
  return { type, runId, fence, base, from, lines, terminal };
}

function isProgress(line: unknown): line is ProgressLine {
  return isLine(line) && !isTerminal(line);
}
