import type { HttpResponse } from "uWebSockets.js";
import type { HttpAnswer } from "../../listener.ts";
import { statusLine } from "../answer-head.ts";

export function writeHead(response: HttpResponse, answer: HttpAnswer): void {
  response.writeStatus(statusLine(answer.status));
  for (const name in answer.headers) response.writeHeader(name, answer.headers[name] ?? "");
}
