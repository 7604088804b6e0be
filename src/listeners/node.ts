import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { normalAddress } from "../domain/address.ts";
import type { Handler, HttpAnswer, HttpRequest, Listen, OnFault, Outlet } from "../listener.ts";
import { bodyBytes, hasNoBody } from "./answer-head.ts";
import { descriptorGate } from "./descriptors.ts";
import { FramingReader, leavesConnectionClean } from "./framing.ts";
import type { Framing } from "./framing.ts";
import { askHandler, FULL, goneOutlet, MALFORMED, startStream, warnOfFault } from "./handling.ts";
import { IncomingBody } from "./incoming-body.ts";
import { Outbox } from "./outbox.ts";
import { afterTick } from "./tick.ts";

/**
 * The listener on node:http, for where uWebSockets.js has no native build. node:http takes pipelined requests and queues
 * their answers; here, as there, a second request while the first one is pending closes the connection.
 */

/** As uWebSockets.js has them: a request must be here within this time, and an idle connection lives as long. */
const PATIENCE_MS = 10_000;
/** node:http looks this often for requests that are late. */
const LOOK_EVERY_MS = 1_000;

export const listenNode: Listen = async ({ host, port, handler, onFault = warnOfFault }) => {
  const tooMany = descriptorGate();
  const busy = new WeakSet<Socket>();
  let inFlight = 0;
  let accepting = true;

  const server = createServer({
    keepAliveTimeout: PATIENCE_MS,
    headersTimeout: PATIENCE_MS,
    requestTimeout: PATIENCE_MS,
    connectionsCheckingInterval: LOOK_EVERY_MS,
    noDelay: true,
  });
  // Without it, lines beyond the 2,000th are dropped in silence, and a doubled one could hide there.
  server.maxHeadersCount = 0;
  server.on("clientError", refuseBytes);
  server.on("request", (request, response) => {
    const { socket } = request;
    if (busy.has(socket)) {
      socket.destroy();
      return;
    }
    busy.add(socket);
    inFlight++;
    response.once("close", () => {
      busy.delete(socket);
      inFlight--;
    });
    void serve({ handler, onFault, full: tooMany(inFlight), leaving: () => !accepting }, request, response);
  });
  const boundPort = await listening(server, host, port);

  const stopAccepting = (): void => {
    if (!accepting) return;
    accepting = false;
    server.close();
  };

  return {
    kind: "node",
    host,
    port: boundPort,
    inFlight: () => inFlight,
    stopAccepting,
    async close() {
      stopAccepting();
      server.closeAllConnections();
      await new Promise<void>((resolve) => afterTick(resolve));
    },
  };
};

function listening(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new Error(`Cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
    );
    server.listen(port, host, () => {
      const bound = server.address();
      resolve(typeof bound === "object" && bound ? bound.port : port);
    });
  });
}

/** Bytes that node's parser does not call a request, or that came too late. */
function refuseBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
  const answering = "_httpMessage" in socket && socket._httpMessage;
  if (socket.writable && !answering && error.code !== "ECONNRESET") {
    const status =
      error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
    socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  }
  socket.destroy();
}

interface Serving {
  handler: Handler;
  onFault: OnFault;
  full: boolean;
  leaving(): boolean;
}

async function serve(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const framing = framingOf(request);
  const method = request.method ?? "";
  if (!framing || serving.full) {
    // What it sends besides is read and dropped: a reset would take the answer with it.
    request.resume();
    afterTick(() => sendWhole(request, response, framing ? FULL : MALFORMED, true));
    return;
  }
  const body = receive(request, framing);
  const url = request.url ?? "";
  const mark = url.indexOf("?");
  const plain: HttpRequest = {
    method,
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? "" : url.slice(mark + 1),
    headers: framing.headers,
    address: normalAddress(request.socket.remoteAddress ?? "") ?? "",
    contentLength: framing.contentLength,
    body: (limitBytes) => body.read(limitBytes),
  };
  response.once("close", () => body.gone());

  const answer = await askHandler(serving.handler, plain, serving.onFault);
  let close = answer.close === true || !leavesConnectionClean(method, framing) || serving.leaving();
  if (!body.complete) {
    await body.rest();
    close = true;
  }
  if (answer.stream) sendStream(serving, request, response, { ...answer, stream: answer.stream, close });
  else afterTick(() => sendWhole(request, response, answer, close));
}

function framingOf(request: IncomingMessage): Framing | null {
  const reader = new FramingReader();
  const lines = request.rawHeaders;
  for (let at = 0; at < lines.length; at += 2) {
    reader.add((lines[at] ?? "").toLowerCase(), lines[at + 1] ?? "");
  }
  const framing = reader.read();
  // HTTP/1.0 knows no chunks, and node:http takes a request line of HTTP/0.9 or HTTP/2.0 for one of its own.
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

function writeHead(response: ServerResponse, answer: HttpAnswer, close: boolean): void {
  if (close) response.setHeader("connection", "close");
  response.writeHead(answer.status, answer.headers);
}

function sendWhole(
  request: IncomingMessage,
  response: ServerResponse,
  answer: HttpAnswer,
  close: boolean,
): void {
  if (response.destroyed) return;
  if (!hasNoBody(answer.status)) response.setHeader("content-length", bodyBytes(answer.body));
  writeHead(response, answer, close);
  response.end(hasNoBody(answer.status) || request.method === "HEAD" ? undefined : answer.body);
  letGo(request.socket);
}

function sendStream(
  { onFault }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
  answer: HttpAnswer & { stream: NonNullable<HttpAnswer["stream"]>; close: boolean },
): void {
  const { close } = answer;
  if (request.method === "HEAD") {
    afterTick(() => sendWhole(request, response, { status: answer.status, headers: answer.headers }, close));
    startStream(answer.stream, goneOutlet, onFault);
    return;
  }
  const { socket } = request;
  let gone = response.destroyed;
  let ended = false;
  let onGone: (() => void) | null = null;
  const sendHead = (): void => {
    if (!response.headersSent && !gone) writeHead(response, answer, close);
  };

  const outbox = new Outbox({
    write: (frame) => {
      sendHead();
      return response.write(frame);
    },
    end: () => {
      sendHead();
      response.end();
    },
    cutOff: () => socket.destroy(),
  });
  response.on("drain", () => outbox.writable());
  response.once("close", () => {
    gone = true;
    outbox.close();
    if (!ended) onGone?.();
  });

  const outlet: Outlet = {
    write: (chunk) => outbox.write(chunk),
    end: (chunk) => {
      ended = true;
      outbox.end(chunk);
      afterTick(() => letGo(socket));
    },
    onGone: (callback) => {
      onGone = callback;
      if (gone && !ended) callback();
    },
  };
  if (gone) outbox.close();
  if (!startStream(answer.stream, outlet, onFault)) socket.destroy();
  afterTick(() => {
    if (gone || response.headersSent || outbox.unreadBytes > 0) return;
    sendHead();
    response.flushHeaders();
  });
}

/** A reader that takes nothing of a finished answer for this long is cut off, as on uWebSockets.js. */
function letGo(socket: Socket): void {
  if (socket.writableLength > 0) socket.setTimeout(PATIENCE_MS, () => socket.destroy());
}
