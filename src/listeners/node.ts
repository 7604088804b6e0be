import { createServer, ServerResponse } from "node:http";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { codeOf } from "../errors.ts";
import { HEAD_LIMIT_BYTES, KEEP_ALIVE_MS } from "../listener.ts";
import type { Listen } from "../listener.ts";
import { descriptorGate } from "./descriptors.ts";
import { warnOfFault } from "./handling.ts";
import { IDLE_MS } from "./node/send.ts";
import { serve } from "./node/serve.ts";
import { afterTick } from "./tick.ts";

/** How often node:http checks for late requests. */
const CHECK_EVERY_MS = 1_000;

/**
 * The listener on node:http, for systems without a native build of uWebSockets.js. node:http takes pipelined requests and
 * queues their answers; here, as on uWebSockets.js, a second request while the first is pending closes the connection.
 */
export const listenNode: Listen = async (options) => {
  const { host, port, isShared = false, handler, onFault = warnOfFault } = options;
  const { keepAliveMs = KEEP_ALIVE_MS, headLimitBytes = HEAD_LIMIT_BYTES } = options;
  const tooMany = descriptorGate();
  const busy = new WeakSet<Socket>();
  let inFlight = 0;
  let accepting = true;

  const server = createStrictServer({ keepAliveTimeout: keepAliveMs, maxHeaderSize: headLimitBytes });
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
  // In a process of node:cluster, the parent accepts the connections of a port that is not exclusive, and distributes them.
  const boundPort = await listening(server, { host, port, exclusive: !isShared });

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
    keepAliveMs,
    stopAccepting,
    async close() {
      stopAccepting();
      server.closeAllConnections();
      await new Promise<void>((resolve) => afterTick(resolve));
    },
  };
};

function createStrictServer(options: { keepAliveTimeout: number; maxHeaderSize: number }): Server {
  const server = createServer({
    ...options,
    headersTimeout: IDLE_MS,
    requestTimeout: IDLE_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    noDelay: true,
  });
  // Otherwise lines after the 2,000th are silently dropped, and a repeated header could hide there.
  server.maxHeadersCount = 0;
  server.on("clientError", refuseBytes);
  return server;
}

function listening(
  server: Server,
  address: { host: string; port: number; exclusive: boolean },
): Promise<number> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new Error(`Cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
    );
    server.listen(address, () => {
      const bound = server.address();
      resolve(typeof bound === "object" && bound ? bound.port : port);
    });
  });
}

/** For bytes that node's parser rejects, or that come too late. */
function refuseBytes(error: Error, socket: Duplex): void {
  const answering = "_httpMessage" in socket && socket._httpMessage;
  const code = codeOf(error);
  const isUnanswered = !answering || (code?.startsWith("HPE_") === true && isStillComing(answering));
  if (socket.writable && isUnanswered && code !== "ECONNRESET") {
    const status = code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
    socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  }
  socket.destroy();
}

/** node:http tells of a request before its parser has looked at all of its head: the bytes are this request's own. */
function isStillComing(answering: unknown): boolean {
  return answering instanceof ServerResponse && !answering.headersSent && !answering.req.complete;
}
