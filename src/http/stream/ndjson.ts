import type { Line } from "../../../machines/line.ts";

/** Line ends for some splitters (Python's `splitlines` among them), which JSON.stringify does not escape. */
const UNICODE_LINE_ENDS = /[\u0085\u2028\u2029]/;
const ALL_UNICODE_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/**
 * The one serializer of streams (P4): each line is one JSON object, and its only line end stands at its end, for every
 * splitter. JSON.stringify escapes everything below U+0020 and lone surrogates.
 */
export function encodeLines(lines: readonly Line[]): string {
  let text = "";
  for (const line of lines) text += `${encodeLine(line)}\n`;
  return withoutLineEnds(text);
}

/** Other objects, in the same way. */
export function encodeObjects(objects: readonly object[]): string {
  return withoutLineEnds(objects.map((object) => `${JSON.stringify(object)}\n`).join(""));
}

function withoutLineEnds(text: string): string {
  return UNICODE_LINE_ENDS.test(text) ? text.replace(ALL_UNICODE_LINE_ENDS, escaped) : text;
}

function encodeLine(line: Line): string {
  // Most lines are deltas: this takes a third of the time of stringifying the object.
  if (line.type === "delta") return `{"type":"delta","text":${JSON.stringify(line.text)}}`;
  return JSON.stringify(line);
}

/** Inside a JSON text these characters occur in strings only. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
