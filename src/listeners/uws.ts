import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { HttpRequest as UwsRequest, HttpResponse, us_listen_socket } from "uWebSockets.js";
import { normalAddress } from "../domain/address.ts";
import { messageOf } from "../errors.ts";
import type { Handler, HttpAnswer, HttpRequest, Listen, OnFault, Outlet } from "../listener.ts";
import { bodyBytes, hasNoBody, statusLine } from "./answer-head.ts";
import { askHandler, FULL, goneOutlet, MALFORMED, startStream, warnOfFault } from "./handling.ts";
import { descriptorGate } from "./descriptors.ts";
import { FramingReader, leavesConnectionClean } from "./framing.ts";
import { IncomingBody } from "./incoming-body.ts";
import { Outbox } from "./outbox.ts";
import { afterTick } from "./tick.ts";

/**
 * The listener on uWebSockets.js, and the only file that knows it. What its response object wants, all of it here:
 * - after an abort, or after `end`, the object must not be touched: everything goes through `Exchange`;
 * - every write is corked, and `end` closes the connection only without `write` before it (it puts the header line
 *   `connection: close` into the chunks otherwise), so that a stream says it in its head;
 * - `onWritable` is set once, before the first write: without it one moment of back-pressure arms a timer that no
 *   later write clears, and the stream is cut while the model thinks; with it nobody drains the last line but the
 *   empty cork in it;
 * - `write` tells of back-pressure only on the next call, so that the outbox counts our own bytes;
 * - status and headers wait for the first byte of a body, so that a stream of JSON starts with a space.
 */

/**
 * A failed write arms a timer of 8 to 12 s, and a reader that pauses for longer is not too slow before the outbox says
 * so: as often as this, the timer is armed anew.
 */
const REARM_EVERY_MS = 4_000;

/**
 * Why there is no native speed here, or null where there is. Asked before the package is imported: that never fails,
 * it warns and hands out a partial copy in JavaScript instead.
 */
export function whyNoNativeBuild(): string | null {
  const require = createRequire(import.meta.url);
  const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  try {
    const folder = dirname(require.resolve("uWebSockets.js"));
    // The official release keeps its builds at its root, the one on the npm registry beside its sources.
    const file = [folder, join(folder, "..", "binaries")]
      .map((at) => join(at, name))
      .find((at) => existsSync(at));
    if (file === undefined) return `uWebSockets.js has no ${name}`;
    require(file);
    return null;
  } catch (error) {
    return `uWebSockets.js does not load: ${messageOf(error)}`;
  }
}

export const listenUws: Listen = async ({ host, port, handler, onFault = warnOfFault }) => {
  const missing = whyNoNativeBuild();
  if (missing !== null) throw new Error(`Cannot listen with uWebSockets.js: ${missing}`);
  const { default: uWS } = await import("uWebSockets.js");
  // Leaves out the header that names the product and its version.
  uWS._cfg("silent");

  const tooMany = descriptorGate();
  const app = uWS.App();
  let inFlight = 0;
  let accepting = true;

  const served: Served = {
    handler,
    onFault,
    began: () => void inFlight++,
    ended: () => void inFlight--,
    full: () => tooMany(inFlight),
    leaving: () => !accepting,
  };
  app.any("/*", (response, request) => serve(served, response, request));

  const socket = await new Promise<us_listen_socket>((resolve, reject) => {
    app.listen(host, port, (opened) => {
      if (opened) resolve(opened);
      else reject(new Error(`Cannot listen on ${host}:${port}: the address is taken or not allowed`));
    });
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
    stopAccepting,
    async close() {
      stopAccepting();
      closeAll(app);
      await new Promise<void>((resolve) => afterTick(resolve));
    },
  };
};

/** Missing from the package's types: closes every connection, idle ones too. */
function closeAll(app: object): void {
  if (!("close" in app) || typeof app.close !== "function") throw new Error("Cannot close: uWS has no close");
  app.close();
}

interface Served {
  handler: Handler;
  onFault: OnFault;
  began(): void;
  ended(): void;
  full(): boolean;
  /** No new connections any more: answers close theirs. */
  leaving(): boolean;
}

/** Copies everything out of uWS's request, which is gone when this returns. */
function serve(served: Served, response: HttpResponse, request: UwsRequest): void {
  const reader = new FramingReader();
  request.forEach((name, value) => reader.add(name, value));
  const framing = reader.read();
  const method = request.getCaseSensitiveMethod();
  const exchange = new Exchange({ served, response, isHead: method === "HEAD" });

  if (!framing) return exchange.answer(MALFORMED);
  if (served.full()) return exchange.answer(FULL);
  exchange.mustClose = !leavesConnectionClean(method, framing);
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
  void handle(served, plain, body, exchange);
}

async function handle(
  { handler, onFault }: Served,
  request: HttpRequest,
  body: IncomingBody,
  exchange: Exchange,
): Promise<void> {
  const answer = await askHandler(handler, request, onFault);
  if (!body.complete) {
    await body.rest();
    exchange.mustClose = true;
  }
  exchange.answer(answer);
}

/** One request and its answer on uWS's response object, which is never touched once it is over. */
class Exchange {
  readonly #served: Served;
  readonly #response: HttpResponse;
  readonly #isHead: boolean;
  #over = false;
  #body: IncomingBody | null = null;
  #onGone: (() => void) | null = null;
  /** True: the connection closes after the answer, whatever the answer says. */
  mustClose = false;

  constructor(options: { served: Served; response: HttpResponse; isHead: boolean }) {
    this.#served = options.served;
    this.#response = options.response;
    this.#isHead = options.isHead;
    this.#served.began();
    this.#response.onAborted(() => this.#gone());
  }

  /** Must be called in the tick of the request: what arrives before is lost. */
  receive(declared: number | null): IncomingBody {
    const whileOpen = (action: () => void) => () => {
      if (!this.#over) action();
    };
    const body = new IncomingBody({
      declared,
      flow: {
        pause: whileOpen(() => this.#response.pause()),
        resume: whileOpen(() => this.#response.resume()),
      },
    });
    this.#body = body;
    if (declared !== 0) {
      this.#response.onData((chunk, isLast) => {
        // uWS takes the memory back when this returns.
        if (chunk.byteLength > 0) body.push(new Uint8Array(chunk.slice(0)));
        if (isLast) body.finish();
      });
    }
    return body;
  }

  answer(answer: HttpAnswer): void {
    if (answer.stream) this.#stream(answer, answer.stream);
    else afterTick(() => this.#whole(answer));
  }

  #whole(answer: HttpAnswer): void {
    if (this.#over) return;
    const response = this.#response;
    const close = this.#closesAfter(answer);
    this.#finish();
    response.cork(() => {
      writeHead(response, answer);
      if (this.#isHead) endHead(response, bodyBytes(answer.body), close);
      else if (!hasNoBody(answer.status)) response.end(answer.body ?? "", close);
      // To close, uWS wants a length here.
      else if (close) response.endWithoutBody(0, true);
      else response.endWithoutBody();
    });
  }

  #stream(answer: HttpAnswer, stream: NonNullable<HttpAnswer["stream"]>): void {
    if (this.#isHead) {
      afterTick(() => this.#whole({ ...answer, body: "" }));
      startStream(stream, goneOutlet, this.#served.onFault);
      return;
    }
    const response = this.#response;
    const close = this.#closesAfter(answer);
    let headSent = false;
    // Corked callbacks are called at once; kept here so that a write allocates none.
    let frame: string | Uint8Array = "";
    let taken = true;
    const writeFrame = (): void => {
      if (!headSent) {
        headSent = true;
        writeHead(response, answer);
        if (close) response.writeHeader("connection", "close");
      }
      if (frame.length > 0) taken = response.write(frame);
    };
    const endStream = (): void => {
      frame = "";
      writeFrame();
      response.end();
    };
    const nothing = (): void => {};
    let ended = false;
    let stalled: NodeJS.Timeout | null = null;
    const rearm = (): void => {
      response.resume();
      // That forgot who waits until the connection is writable: a write that fails asks for it again.
      response.cork(nothing);
      outbox.writable();
    };
    // Once all is said nobody waits longer than the timer does.
    const stall = (): void => {
      if (!ended) stalled ??= setInterval(rearm, REARM_EVERY_MS);
    };
    const move = (): void => {
      if (stalled) clearInterval(stalled);
      stalled = null;
    };

    const outbox = new Outbox({
      write: (next) => {
        if (this.#over) return true;
        frame = next;
        response.cork(writeFrame);
        if (!taken) stall();
        return taken;
      },
      end: () => {
        if (this.#over) return;
        this.#finish();
        response.cork(endStream);
      },
      cutOff: () => {
        if (!this.#over) response.close();
      },
    });

    let onGone: (() => void) | null = null;
    this.#onGone = () => {
      move();
      outbox.close();
      if (!ended) onGone?.();
    };
    if (!this.#over) {
      response.onWritable(() => {
        move();
        response.cork(nothing);
        outbox.writable();
        return true;
      });
    }
    const outlet: Outlet = {
      write: (chunk) => outbox.write(chunk),
      end: (chunk) => {
        ended = true;
        move();
        outbox.end(chunk);
      },
      onGone: (callback) => {
        onGone = callback;
        if (this.#over && !ended) callback();
      },
    };
    if (!startStream(stream, outlet, this.#served.onFault) && !this.#over) response.close();
    const isJson =
      answer.headers["content-type"]?.includes("json") && !("content-encoding" in answer.headers);
    afterTick(() => {
      if (!headSent && isJson && !ended && outbox.unreadBytes === 0) outbox.write(" ");
    });
    if (this.#over) outbox.close();
  }

  #closesAfter(answer: HttpAnswer): boolean {
    return this.mustClose || answer.close === true || this.#served.leaving();
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#served.ended();
  }

  #gone(): void {
    if (this.#over) return;
    this.#finish();
    this.#body?.gone();
    this.#onGone?.();
  }
}

/** Told a length, uWS waits for so much body, and the connection is good for nothing more. */
function endHead(response: HttpResponse, bytes: number, close: boolean): void {
  if (close) {
    response.endWithoutBody(bytes, true);
    return;
  }
  response.writeHeader("content-length", String(bytes));
  response.endWithoutBody();
}

function writeHead(response: HttpResponse, answer: HttpAnswer): void {
  response.writeStatus(statusLine(answer.status));
  for (const name in answer.headers) response.writeHeader(name, answer.headers[name] ?? "");
}
