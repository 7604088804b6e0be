import type { HttpResponse } from "uWebSockets.js";
import type { HttpAnswer } from "../../listener.ts";
import { statusLine } from "../answer-head.ts";

export function writeHead(response: HttpResponse, { status, headers }: HttpAnswer): void {
  response.writeStatus(statusLine(status));
  for (const name in headers) response.writeHeader(name, headers[name] ?? "");
}

/** For an answer without headers: true of every answer of this service (RFC 9110, section 14.3). */
const ANY_HEADER = { "accept-ranges": "none" };

/** Status and headers after writeContinue(). */
export function writeHeadAfterContinue(response: HttpResponse, { status, headers }: HttpAnswer): void {
  const lines = Object.entries(headers);
  let before = `HTTP/1.1 ${statusLine(status)}\r\n`;
  for (const [name, value] of lines.length > 0 ? lines : Object.entries(ANY_HEADER)) {
    response.writeHeader(before + name, value);
    before = "";
  }
}

/**
 * Asks for the body of a request with `Expect: 100-Continue`. uWebSockets.js does so itself where it is written in lower
 * case, and has no function for it. What it writes of a status and of a header's name it takes as they are: so this is a whole
 * interim answer, and the status of the answer is written before its first header.
 */
export function writeContinue(response: HttpResponse): void {
  response.writeStatus("100 Continue\r\n");
}
