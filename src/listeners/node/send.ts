import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpAnswer } from "../../listener.ts";
import { bodyBytes, hasNoBody } from "../answer-head.ts";
import { afterTick } from "../tick.ts";

/** As on uWebSockets.js: a request must arrive within this time, and a reader may take nothing for as long. */
export const IDLE_MS = 10_000;

export function writeHead(response: ServerResponse, answer: HttpAnswer, close: boolean): void {
  if (close) response.setHeader("connection", "close");
  response.writeHead(answer.status, answer.headers);
}

/** Sends an answer that is not a stream. */
export function sendWhole(
  request: IncomingMessage,
  response: ServerResponse,
  answer: HttpAnswer,
  close: boolean,
): void {
  if (response.destroyed) return;
  if (!hasNoBody(answer.status)) response.setHeader("content-length", bodyBytes(answer.body));
  writeHead(response, answer, close);
  response.end(hasNoBody(answer.status) || request.method === "HEAD" ? undefined : answer.body);
  closeIfUnread(request.socket);
}

/**
 * Disconnects a reader that takes nothing of a finished answer for IDLE_MS, as on uWebSockets.js. Checks after the current
 * tick: from Node 26 on, the response passes its bytes to the socket only at the end of the tick.
 */
export function closeIfUnread(socket: Socket): void {
  afterTick(() => {
    if (socket.writableLength > 0) closeIfStalled(socket);
  });
}

/** Disconnects a reader if nothing moves for IDLE_MS. */
export function closeIfStalled(socket: Socket): void {
  socket.setTimeout(IDLE_MS, () => socket.destroy());
}
