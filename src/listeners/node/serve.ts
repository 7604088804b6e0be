import type { IncomingMessage, ServerResponse } from "node:http";
import { normalAddress } from "../../domain/address.ts";
import type { Handler, HttpAnswer, HttpRequest, OnFault } from "../../listener.ts";
import { FramingReader, leavesConnectionClean } from "../framing.ts";
import type { Framing } from "../framing.ts";
import { askHandler, FULL, goneOutlet, MALFORMED, startStream } from "../handling.ts";
import { IncomingBody } from "../incoming-body.ts";
import { afterTick } from "../tick.ts";
import { sendWhole } from "./send.ts";
import { NodeStream } from "./stream.ts";

/** The parts of the listener that a request needs. */
export interface NodeServing {
  handler: Handler;
  onFault: OnFault;
  /** Too many are open: this request is refused. */
  full: boolean;
  /** No new connections any more: answers close theirs. */
  leaving(): boolean;
}

/** One request from its head to its answer. */
export async function serve(
  serving: NodeServing,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const framing = framingOf(request);
  const target = originForm(request.url ?? "");
  const method = request.method ?? "";
  if (!framing || target === null || serving.full) {
    // The rest of the request is read and dropped: a reset would destroy the answer.
    request.resume();
    const refusal = framing && target !== null ? FULL : MALFORMED;
    afterTick(() => sendWhole(request, response, refusal, true));
    return;
  }
  const body = receive(request, framing);
  response.once("close", () => body.gone());

  const answer = await askHandler(
    serving.handler,
    plainRequest(request, { framing, target, body }),
    serving.onFault,
  );
  let close = answer.close === true || !leavesConnectionClean(method, framing) || serving.leaving();
  if (!body.complete) {
    await body.rest();
    close = true;
  }
  if (answer.stream) sendStream({ request, response }, { answer, stream: answer.stream, close }, serving);
  else afterTick(() => sendWhole(request, response, answer, close));
}

function framingOf(request: IncomingMessage): Framing | null {
  const reader = new FramingReader();
  const lines = request.rawHeaders;
  for (let at = 0; at < lines.length; at += 2) {
    reader.add((lines[at] ?? "").toLowerCase(), lines[at + 1] ?? "");
  }
  const framing = reader.read();
  // HTTP/1.0 has no chunks, and node:http also accepts request lines of HTTP/0.9 and HTTP/2.0.
  if (request.httpVersion === "1.1") return framing;
  return request.httpVersion === "1.0" && !framing?.chunked ? framing : null;
}

function receive(request: IncomingMessage, framing: Framing): IncomingBody {
  const declared = framing.chunked ? null : (framing.contentLength ?? 0);
  const body = new IncomingBody({
    declared,
    flow: { pause: () => request.pause(), resume: () => request.resume() },
  });
  request.on("data", (chunk: Buffer) => body.push(chunk));
  request.once("end", () => body.finish());
  request.once("error", () => body.gone());
  return body;
}

/**
 * The target as path and query, also of one in absolute form, which a server has to accept (RFC 9112, section 3.2.2); its host
 * is of no interest here. null: neither form. `*` is the target of OPTIONS.
 */
function originForm(target: string): string | null {
  if (target.startsWith("/") || target === "*") return target;
  const scheme = ["http://", "https://"].find((known) => target.toLowerCase().startsWith(known));
  if (scheme === undefined) return null;
  const rest = target.slice(scheme.length);
  const hostEnd = rest.search(/[/?]/);
  if (hostEnd === 0 || rest === "") return null;
  if (hostEnd === -1) return "/";
  return rest[hostEnd] === "/" ? rest.slice(hostEnd) : `/${rest.slice(hostEnd)}`;
}

function plainRequest(
  request: IncomingMessage,
  { framing, target, body }: { framing: Framing; target: string; body: IncomingBody },
): HttpRequest {
  const mark = target.indexOf("?");
  return {
    method: request.method ?? "",
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? "" : target.slice(mark + 1),
    headers: framing.headers,
    address: normalAddress(request.socket.remoteAddress ?? "") ?? "",
    contentLength: framing.contentLength,
    body: (limitBytes) => body.read(limitBytes),
  };
}

function sendStream(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  streamed: { answer: HttpAnswer; stream: NonNullable<HttpAnswer["stream"]>; close: boolean },
  { onFault }: NodeServing,
): void {
  const { answer, stream, close } = streamed;
  if (request.method === "HEAD") {
    const { status, headers } = answer;
    afterTick(() => sendWhole(request, response, { status, headers }, close));
    startStream(stream, goneOutlet, onFault);
    return;
  }
  new NodeStream({ request, response }, answer, close).run(stream, onFault);
}
