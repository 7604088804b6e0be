/**
 * The listener contract: HTTP bytes in, HTTP bytes out. It knows no route and no rule of the service.
 * Implementations: listeners/uws.ts and listeners/node.ts; test/listeners/contract.ts holds both to this page.
 *
 * What a strict reading of HTTP/1.1 would not call a request (doubled or malformed Content-Length, a Transfer-Encoding
 * other than `chunked`, a header that may come once and came twice) is answered 400, closed, and never handled.
 * No answer leaves in the tick in which its request was parsed: a request smuggled into the same read finds the
 * first one pending, and the connection closes instead.
 */
export interface HttpRequest {
  /** As it came, upper case or not. */
  method: string;
  /** The path as it came, neither decoded nor normalised, without the query. */
  path: string;
  /** What follows the `?`, or an empty string. */
  query: string;
  /** By lower-case name; the lines of a repeated header are joined by `, `. */
  headers: ReadonlyMap<string, string>;
  /** The socket's other end, as text: `127.0.0.1`, `2001:db8::1`; IPv4-mapped addresses as IPv4. */
  address: string;
  /** The declared length; null where none is declared. */
  contentLength: number | null;
  /**
   * Reads the body. Rejects with Refusal("too-large") as soon as more than `limitBytes` arrived, whatever was declared,
   * and with RequestGone when the client left. At most once.
   */
  body(limitBytes: number): Promise<Buffer>;
}

/** The client left before the answer: nobody to tell. */
export class RequestGone extends Error {
  constructor() {
    super("The client is gone");
    this.name = "RequestGone";
  }
}

/** An open answer, for a stream. */
export interface Outlet {
  /**
   * Sends. Chunks written in one tick leave in one write. A reader with more than UNREAD_LIMIT_BYTES of them unread in
   * this process is cut off: the connection closes and `onGone` is called.
   */
  write(chunk: string | Uint8Array): void;
  /** The last chunk, if any, and the end of the body. */
  end(chunk?: string | Uint8Array): void;
  /** Calls back once, when the connection has taken all that was written so far; never where it is gone. */
  onDrained(callback: () => void): void;
  /**
   * For a body whose end is known: calls `next` now, and whenever nothing of what was written waits here any more, until
   * the end. So it is written as fast as it is read. A reader that takes nothing for about 10 s is closed.
   */
  pull(next: () => void): void;
  /** Closes the connection in the middle of the body: what was sent is no whole answer. */
  cut(): void;
  /** Called once when the client went away or was cut off; not after `end`. At once where it is so already. */
  onGone(callback: () => void): void;
}

/** A reader may leave so much unread in this process (contract, A client that goes away). */
export const UNREAD_LIMIT_BYTES = 1_048_576;

/**
 * So much may be unread in this process by all readers together. Beyond it no more is begun that may be long: a page of
 * history, a run told again. 10,000 readers who keep up have a few kilobytes each.
 */
export const UNREAD_TOTAL_BYTES = 67_108_864;

export interface HttpAnswer {
  status: number;
  /** Lower-case names. `content-length`, `date` and `connection` are the listener's own business. */
  headers: Record<string, string>;
  /** The whole body; none: an empty one. */
  body?: string | Uint8Array;
  /** Instead of a body: called once, after status and headers were sent off, to write into the outlet. */
  stream?: (outlet: Outlet) => void;
  /** True: close the connection after this answer. */
  close?: boolean;
}

/** Never rejects; the listener answers 500 with an empty body, and closes, where it does all the same. */
export type Handler = (request: HttpRequest) => Promise<HttpAnswer>;

export interface Listener {
  readonly kind: "uws" | "node";
  readonly host: string;
  /** The port that it really listens on. */
  readonly port: number;
  /** Answers being written, streams included. */
  inFlight(): number;
  /** Takes no new connections; requests that are in flight go on. */
  stopAccepting(): void;
  /** Ends every connection now. */
  close(): Promise<void>;
}

export interface ListenOptions {
  host: string;
  port: number;
  /** True: other processes of this service listen on the same port. Else it is this process's alone. */
  isShared?: boolean;
  handler: Handler;
  /** Told of what the handler, or a stream of its, threw; the request is over. Without it: a process warning. */
  onFault?: OnFault;
}

export type OnFault = (error: unknown) => void;

export type Listen = (options: ListenOptions) => Promise<Listener>;
