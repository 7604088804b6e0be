import type { HttpResponse } from "uWebSockets.js";
import type { HttpAnswer } from "../../listener.ts";
import { bodyBytes, statusLine } from "../answer-head.ts";

export function writeHead(response: HttpResponse, answer: HttpAnswer): void {
  response.writeStatus(statusLine(answer.status));
  for (const name in answer.headers) response.writeHeader(name, answer.headers[name] ?? "");
}

/** uWS keeps up to 16 KB of a tick, and drops them where it closes the connection itself; a longer header leaves at once. */
const PAST_THE_CORK = "\r\n".repeat(8_192);

/**
 * Ends an answer, and what it has of a body, before uWS closes the connection. The end of the head stands in the last
 * header's value, and behind the body are line ends, which a client of a closing connection skips: `end` would write more.
 */
export function endAtOnce(response: HttpResponse, answer: HttpAnswer, isHead: boolean): void {
  writeHead(response, answer);
  const body = isHead || answer.body === undefined ? "" : Buffer.from(answer.body).toString("latin1");
  const end = `\r\nconnection: close\r\n\r\n${body}${PAST_THE_CORK}`;
  response.writeHeader("content-length", `${bodyBytes(answer.body)}${end}`);
  response.close();
}
