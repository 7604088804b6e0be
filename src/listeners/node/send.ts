import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpAnswer } from "../../listener.ts";
import { bodyBytes, hasNoBody } from "../answer-head.ts";
import { afterTick } from "../tick.ts";

/** As uWebSockets.js has it: a request must be here within this time, and an idle connection lives as long. */
export const IDLE_MS = 10_000;

export function writeHead(response: ServerResponse, answer: HttpAnswer, close: boolean): void {
  if (close) response.setHeader("connection", "close");
  response.writeHead(answer.status, answer.headers);
}

/** Sends an answer that is no stream. */
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
 * Cuts a reader off that takes nothing of a finished answer for IDLE_MS, as on uWebSockets.js. Looks after the present tick:
 * from Node 26 on the response gives the socket what it has at the end of it.
 */
export function closeIfUnread(socket: Socket): void {
  afterTick(() => {
    if (socket.writableLength > 0) closeIfStalled(socket);
  });
}

/** Cuts a reader off if nothing moves for IDLE_MS. */
export function closeIfStalled(socket: Socket): void {
  socket.setTimeout(IDLE_MS, () => socket.destroy());
}
