import type { HttpResponse } from "uWebSockets.js";
import type { HttpAnswer } from "../../listener.ts";

/**
 * uWebSockets.js ends a chunk with the CRLF that begins the next one. A client that waits for it (urllib3, and with it
 * Python's `requests`) would have each line only when the next one is written: the text before a slow tool when the tool is
 * done. So what is written of a live stream ends with the beginning of one more chunk, in the same write:
 * - `text`: white space that belongs to the next line or event and means nothing there, after what ends with `after`. No
 *   line needs it that the end of the body follows;
 * - `last-byte`: of a compressed stream, its last byte. A flushed block ends in an empty one (00 00 ff ff: RFC 1951,
 *   section 3.2.4), of which no decoder needs the last byte to pass on what was written.
 */
export type ChunkEnd = { text: string; after: string } | "last-byte";

/** RFC 8259, section 2: white space before a value is allowed. */
const LINES: ChunkEnd = { text: " ", after: "\n" };
/** The HTML standard, section 9.2.6: an empty line without data before it dispatches no event. */
const EVENTS: ChunkEnd = { text: "\n", after: "\n\n" };

/** null: the type has no lines that somebody waits for. */
export function chunkEndOf({ headers }: Pick<HttpAnswer, "headers">): ChunkEnd | null {
  const type = headers["content-type"] ?? "";
  const end = type.startsWith("application/x-ndjson")
    ? LINES
    : type.startsWith("text/event-stream")
      ? EVENTS
      : null;
  return end !== null && "content-encoding" in headers ? "last-byte" : end;
}

/** Writes the frame and its chunk's end. False as of `write`: the connection has not taken all of it. */
export function writeEnded(response: HttpResponse, frame: string | Uint8Array, end: ChunkEnd): boolean {
  if (end === "last-byte") {
    const bytes = typeof frame === "string" ? Buffer.from(frame) : frame;
    const isTaken = bytes.length === 1 || response.write(bytes.subarray(0, -1));
    return response.write(bytes.subarray(-1)) && isTaken;
  }
  const isTaken = response.write(frame);
  return endsWith(frame, end.after) ? response.write(end.text) && isTaken : isTaken;
}

function endsWith(frame: string | Uint8Array, text: string): boolean {
  if (typeof frame === "string") return frame.endsWith(text);
  return Buffer.from(frame.subarray(-text.length)).toString("latin1") === text;
}
