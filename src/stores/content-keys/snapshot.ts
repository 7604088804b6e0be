import { answererSince } from "../answerer-since.ts";
import { isObject } from "../checks.ts";

/**
 * A thread's snapshot at rest. One that has no text of anybody is kept as it is: of most threads between two messages. Else it is
 * a snapshot of a version that no service reads, with when who answers changed last, which stores look at (answerer-since.ts):
 * an older service leaves such a thread alone.
 */
const UNREADABLE_VERSION = 1_000_000;

/** Fields that never have a text of anybody, whatever they are. */
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

/** False: it may; also where this version does not know what is in it. */
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
  return JSON.stringify({ value: "sealed", context, answererSinceMs });
}

/** What is sealed of a snapshot; null: it is as it was written. */
export function sealedOf(snapshot: string): string | null {
  // Looked for first: a snapshot is parsed once, by its chart.
  if (!snapshot.startsWith('{"value":"sealed"')) return null;
  const sealed = contextOf(snapshot)?.["sealed"];
  return typeof sealed === "string" ? sealed : null;
}
