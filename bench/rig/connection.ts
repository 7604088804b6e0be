import { connect } from "node:net";
import type { Socket } from "node:net";

/**
 * A keep-alive HTTP/1.1 connection that costs its process about 0.05 ms a message: the load must not be what is
 * measured. One request at a time; it reads bodies with a Content-Length and chunked ones, and trusts the server to be
 * correct.
 */
export interface Exchange {
  status: number;
  body: Buffer;
  /** From the request to the first part of the body that `isFirst` takes for text; NaN where none was. */
  firstMs: number;
  totalMs: number;
}

/** Does this part of the body have text of the reply? `before`: the number of bytes before it. */
export type IsFirst = (part: Buffer, before: number) => boolean;

export interface Request {
  bytes: string;
  isFirst: IsFirst;
}

export interface Connection {
  ask(request: Request): Promise<Exchange>;
  /** Closes it, even during an answer. */
  close(): void;
}

/** A POST of JSON. */
export function post(options: {
  port: number;
  path: string;
  headers: Record<string, string>;
  body: unknown;
}): string {
  const { port, path, headers, body } = options;
  const json = body === undefined ? "" : JSON.stringify(body);
  const type = body === undefined ? "" : "content-type: application/json\r\n";
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = `content-length: ${Buffer.byteLength(json)}\r\n`;
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${type}${length}${lines.join("")}\r\n${json}`;
}

interface Pending {
  request: Request;
  beganAt: number;
  resolve: (exchange: Exchange) => void;
  reject: (error: Error) => void;
}

export function openConnection(port: number): Connection {
  let socket: Socket | null = null;
  let pending: Pending | null = null;
  let reader = new AnswerReader(() => false);

  function open(): Socket {
    const opened = connect({ port, host: "127.0.0.1", noDelay: true });
    opened.on("data", (bytes) => {
      if (pending && reader.take(bytes)) finish(pending);
    });
    opened.on("error", fail);
    opened.on("close", () => {
      if (socket === opened) socket = null;
      if (pending && reader.endsWithConnection) finish(pending);
      else fail(new Error("Cannot read the answer: the connection was closed"));
    });
    return opened;
  }

  function finish({ resolve, beganAt }: Pending): void {
    pending = null;
    const { status, body, firstAt } = reader.answer();
    if (reader.closes) {
      socket?.destroy();
      socket = null;
    }
    resolve({ status, body, firstMs: firstAt - beganAt, totalMs: performance.now() - beganAt });
  }

  function fail(error: Error): void {
    const waiting = pending;
    pending = null;
    socket?.destroy();
    socket = null;
    waiting?.reject(error);
  }

  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        socket ??= open();
        reader = new AnswerReader(request.isFirst);
        pending = { request, beganAt: performance.now(), resolve, reject };
        socket.write(request.bytes);
      }),
    close() {
      pending = null;
      socket?.destroy();
      socket = null;
    },
  };
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");
const EMPTY: Buffer = Buffer.alloc(0);

/** One answer, from its bytes. */
class AnswerReader {
  readonly #isFirst: IsFirst;
  /** Received bytes that are not parsed yet. */
  #rest: Buffer = EMPTY;
  #status = 0;
  #chunked = false;
  /** Bytes of the current chunk, or of the whole body, that are still to come. */
  #left = 0;
  /** A chunk's data is complete, its line end still to come. */
  #afterData = false;
  #parts: Buffer[] = [];
  #bytes = 0;
  #firstAt = NaN;
  /** The body has neither length nor chunks. */
  endsWithConnection = false;
  closes = false;

  constructor(isFirst: IsFirst) {
    this.#isFirst = isFirst;
  }

  answer(): { status: number; body: Buffer; firstAt: number } {
    const [only = EMPTY] = this.#parts;
    const body = this.#parts.length < 2 ? only : Buffer.concat(this.#parts);
    return { status: this.#status, body, firstAt: this.#firstAt };
  }

  /** True when the answer is whole. */
  take(bytes: Buffer): boolean {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#status === 0 && !this.#readHead()) return false;
    if (this.#chunked) return this.#readChunks();
    this.#keep(this.#rest);
    this.#rest = EMPTY;
    return !this.endsWithConnection && this.#bytes >= this.#left;
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = this.#rest.toString("latin1", 0, end + 2).toLowerCase();
    this.#rest = this.#rest.subarray(end + HEAD_END.length);
    this.#status = Number(head.slice(9, 12));
    this.closes = head.includes("\r\nconnection: close\r\n");
    this.#chunked = head.includes("\r\ntransfer-encoding: chunked\r\n");
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    const hasNoBody = this.#status === 204 || this.#status === 304;
    this.#left = hasNoBody ? 0 : Number(length ?? 0);
    this.endsWithConnection = !this.#chunked && length === undefined && !hasNoBody;
    return true;
  }

  /** Takes data before its chunk is complete: some servers send a chunk's line end only before the next chunk. */
  #readChunks(): boolean {
    for (;;) {
      if (this.#left > 0) {
        const part = this.#rest.subarray(0, this.#left);
        if (part.length === 0) return false;
        this.#keep(part);
        this.#rest = this.#rest.subarray(part.length);
        this.#left -= part.length;
        this.#afterData = this.#left === 0;
        continue;
      }
      const from = this.#afterData ? LINE_END.length : 0;
      const end = this.#rest.indexOf(LINE_END, from);
      if (end < 0) return false;
      const size = Number.parseInt(this.#rest.toString("latin1", from, end), 16);
      // The last chunk is empty, and a line end follows it; trailers are not expected.
      if (size === 0) return this.#rest.length >= end + 2 * LINE_END.length;
      this.#rest = this.#rest.subarray(end + LINE_END.length);
      this.#left = size;
    }
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    if (Number.isNaN(this.#firstAt) && this.#isFirst(part, this.#bytes)) this.#firstAt = performance.now();
    this.#parts.push(part);
    this.#bytes += part.length;
  }
}
