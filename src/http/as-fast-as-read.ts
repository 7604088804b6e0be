import type { HttpAnswer, HttpRequest, Outlet } from "../listener.ts";

/**
 * A longer body is sent in pieces: the end of a shorter one is taken at once by nearly every connection, and a listener may
 * then keep the connection for long.
 */
const WHOLE_BYTES = 14_000;
/** A reader that does not read holds up only one piece. */
const PIECE_BYTES = 65_536;

/**
 * An answer as it is sent. A long body is sent only as fast as it is read: otherwise a client that requests much and reads
 * nothing would keep all of it in memory, and files need no key. Not for HEAD, which needs the length and no body.
 */
export function asFastAsRead(answer: HttpAnswer, { method }: Pick<HttpRequest, "method">): HttpAnswer {
  const { body, ...head } = answer;
  if (body === undefined || method === "HEAD" || body.length * 3 <= WHOLE_BYTES) return answer;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.byteLength <= WHOLE_BYTES) return answer;
  return { ...head, stream: (outlet) => writePieces(outlet, bytes) };
}

function writePieces(outlet: Outlet, bytes: Uint8Array): void {
  let at = 0;
  outlet.pull(() => {
    if (at >= bytes.byteLength) return outlet.end();
    outlet.write(bytes.subarray(at, at + PIECE_BYTES));
    at += PIECE_BYTES;
  });
}
