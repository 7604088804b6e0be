import type { HttpRequest as UwsRequest, HttpResponse, us_listen_socket } from "uWebSockets.js";
import { normalAddress } from "../domain/address.ts";
import { KEEP_ALIVE_MS } from "../listener.ts";
import type { HttpRequest, Listen } from "../listener.ts";
import { descriptorGate } from "./descriptors.ts";
import { FramingReader, leavesConnectionClean } from "./framing.ts";
import { askHandler, FULL, MALFORMED, warnOfFault } from "./handling.ts";
import type { IncomingBody } from "./incoming-body.ts";
import { afterTick } from "./tick.ts";
import { UwsExchange } from "./uws/exchange.ts";
import type { UwsServing } from "./uws/exchange.ts";
import { whyNoNativeBuild } from "./uws/native-build.ts";
import { timersOf } from "./uws/timers.ts";

/**
 * The listener on uWebSockets.js. The rules of its response object, which uws/ follows:
 * - after an abort, or after `end`, the object must not be touched: everything goes through UwsExchange;
 * - every write is corked, and `end` closes the connection only without `write` before it (it puts the header line
 *   `connection: close` into the chunks otherwise), so a stream sends that header in its head;
 * - `onWritable` is set once, before the first write: without it one moment of back-pressure arms a timer that no
 *   later write clears, and the stream is cut while the model thinks; with it only the empty cork in it drains the last
 *   line;
 * - `write` reports back-pressure only on the next call, so the send buffer counts our own bytes;
 * - status and headers wait for the first byte of a body, so a stream of JSON starts with a space.
 */
export const listenUws: Listen = async (options) => {
  const { host, port, isShared = false, handler, onFault = warnOfFault } = options;
  const missing = whyNoNativeBuild(options.headLimitBytes);
  if (missing !== null) throw new Error(`Cannot listen with uWebSockets.js: ${missing}`);
  const { default: uWS } = await import("uWebSockets.js");
  leaveOutProduct(uWS);

  const tooMany = descriptorGate();
  const app = uWS.App();
  const timers = timersOf(app, options.keepAliveMs ?? KEEP_ALIVE_MS);
  let inFlight = 0;
  let accepting = true;

  const serving: UwsServing = {
    handler,
    onFault,
    began: () => void inFlight++,
    ended: () => void inFlight--,
    full: () => tooMany(inFlight),
    leaving: () => !accepting,
    keeping: timers.keeping,
  };
  app.any("/*", (response, request) => serve(serving, response, request));

  const socket = await new Promise<us_listen_socket>((resolve, reject) => {
    // The package's types have no listen() with a host and options; its native build takes both.
    (app as unknown as AppWithOptions).listen(
      host,
      port,
      isShared ? SHARED_PORT : EXCLUSIVE_PORT,
      (opened) => {
        if (opened) resolve(opened);
        else reject(new Error(`Cannot listen on ${host}:${port}: the address is taken or not allowed`));
      },
    );
  });

  const stopAccepting = (): void => {
    if (!accepting) return;
    accepting = false;
    uWS.us_listen_socket_close(socket);
  };

  return {
    kind: "uws",
    host,
    port: uWS.us_socket_local_port(socket),
    inFlight: () => inFlight,
    keepAliveMs: timers.keepAliveMs,
    stopAccepting,
    async close() {
      stopAccepting();
      closeAll(app);
      await new Promise<void>((resolve) => afterTick(resolve));
    },
  };
};

/** Leaves out the header that names the product and its version. The types of newer builds have no `_cfg`. */
function leaveOutProduct(uWS: object): void {
  if (!("_cfg" in uWS) || typeof uWS._cfg !== "function") throw new Error("Cannot listen: uWS has no _cfg");
  uWS._cfg("silent");
}

interface AppWithOptions {
  listen(
    host: string,
    port: number,
    options: number,
    onListen: (opened: us_listen_socket | false) => void,
  ): void;
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT. Without it two services can share a port, and callers reach either. */
const EXCLUSIVE_PORT = 1;
/** SO_REUSEPORT: the kernel distributes connections among all processes that listen. */
const SHARED_PORT = 0;

/** Missing from the package's types: closes every connection, idle ones too. */
function closeAll(app: object): void {
  if (!("close" in app) || typeof app.close !== "function") throw new Error("Cannot close: uWS has no close");
  app.close();
}

/** Copies everything out of uWS's request, which is invalid after this returns. */
function serve(serving: UwsServing, response: HttpResponse, request: UwsRequest): void {
  const reader = new FramingReader();
  request.forEach((name, value) => reader.add(name, value));
  const framing = reader.read();
  const method = request.getCaseSensitiveMethod();
  const exchange = new UwsExchange({ serving, response, isHead: method === "HEAD" });

  if (!framing) return exchange.answer(MALFORMED);
  if (serving.full()) return exchange.answer(FULL);
  exchange.mustClose = !leavesConnectionClean(method, framing);
  exchange.expect(framing.headers.get("expect"));
  const body = exchange.receive(framing.chunked ? null : (framing.contentLength ?? 0));
  const plain: HttpRequest = {
    method,
    path: request.getUrl(),
    query: request.getQuery() ?? "",
    headers: framing.headers,
    address: normalAddress(Buffer.from(response.getRemoteAddressAsText()).toString()) ?? "",
    contentLength: framing.contentLength,
    body: (limitBytes) => body.read(limitBytes),
  };
  void handle(serving, plain, body, exchange);
}

async function handle(
  { handler, onFault }: UwsServing,
  request: HttpRequest,
  body: IncomingBody,
  exchange: UwsExchange,
): Promise<void> {
  const answer = await askHandler(handler, request, onFault);
  if (!body.complete) {
    await body.rest();
    exchange.mustClose = true;
  }
  exchange.answer(answer);
}
