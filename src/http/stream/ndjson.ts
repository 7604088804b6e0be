import type { Line } from "../../../machines/line.ts";

/**
 * Some splitters (Python's `splitlines` among them) take these for line ends, and JSON.stringify does not escape them.
 */
const UNICODE_LINE_ENDS = /[\u0085\u2028\u2029]/;
const ALL_UNICODE_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/**
 * The only serializer of streams (P4): each line is one JSON object, and for every splitter its only line end is at its
 * end. JSON.stringify escapes everything below U+0020 and lone surrogates.
 */
export function encodeLines(lines: readonly Line[]): string {
  let text = "";
  for (const line of lines) text += `${encodeLine(line)}\n`;
  return withoutLineEnds(text);
}

/** Other objects, the same way. */
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

/** In JSON text these characters occur only inside strings. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
