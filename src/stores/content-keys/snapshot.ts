import { answererSince } from "../answerer-since.ts";
import { isObject } from "../checks.ts";
import { waitsForApproval } from "../waits-for-approval.ts";

/**
 * A thread's snapshot at rest. One without any user's text is stored as it is, as for most threads between two
 * messages. Any other is stored as a snapshot of a version that no service reads, so that an older service leaves the
 * thread alone; beside it is what lists show of it: when the answerer last changed (answerer-since.ts), and that a
 * call waits for approval (waits-for-approval.ts).
 */
const UNREADABLE_VERSION = 1_000_000;

/** Fields that never contain a user's text. */
const PLAIN = new Set(["version", "usage", "epoch", "answererSinceMs"]);
const PLAIN_OF_RUN = new Set([
  "id",
  "saidAtMs",
  "limits",
  "attempt",
  "misses",
  "uses",
  "toolCalls",
  "deadlineMs",
  "usage",
]);

/** False: it may have content, or parts that this version does not know. */
export function isWithoutContent(snapshot: string): boolean {
  const context = contextOf(snapshot);
  return (
    context !== null &&
    Object.entries(context).every(
      ([name, value]) => PLAIN.has(name) || value === null || (name === "run" && isPlainRun(value)),
    )
  );
}

function isPlainRun(run: unknown): boolean {
  return (
    isObject(run) &&
    Object.entries(run).every(
      ([name, value]) =>
        PLAIN_OF_RUN.has(name) ||
        value === null ||
        (name === "calls" && Array.isArray(value) && value.length === 0),
    )
  );
}

function contextOf(snapshot: string): Record<string, unknown> | null {
  try {
    const frozen: unknown = JSON.parse(snapshot);
    const context = isObject(frozen) ? frozen["context"] : null;
    return isObject(context) ? context : null;
  } catch {
    return null;
  }
}

export function sealedSnapshot(snapshot: string, sealed: string): string {
  const answererSinceMs = answererSince(snapshot);
  const context = { version: UNREADABLE_VERSION, sealed };
  const mark = waitsForApproval(snapshot) ? { waitsForApproval: true } : {};
  return JSON.stringify({ value: "sealed", context, answererSinceMs, ...mark });
}

/** The sealed text of a snapshot; null: the snapshot is plain. */
export function sealedOf(snapshot: string): string | null {
  // Compared first, because a snapshot is parsed only once, by its chart.
  if (!snapshot.startsWith('{"value":"sealed"')) return null;
  const sealed = contextOf(snapshot)?.["sealed"];
  return typeof sealed === "string" ? sealed : null;
}
