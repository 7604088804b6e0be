import type { HttpAnswer, HttpRequest, Outlet } from "../listener.ts";

/** A longer body is given to its reader in pieces of this size: so much waits for one who does not read. */
const PIECE_BYTES = 65_536;

/**
 * An answer as it is sent. A long body leaves as fast as it is read: else whoever asks for much, and reads nothing, holds
 * all of it here, and files are given to anybody. Not for HEAD, which wants the length and no body.
 */
export function asFastAsRead(answer: HttpAnswer, { method }: Pick<HttpRequest, "method">): HttpAnswer {
  const { body, ...head } = answer;
  if (body === undefined || method === "HEAD" || body.length * 3 <= PIECE_BYTES) return answer;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.byteLength <= PIECE_BYTES) return answer;
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
