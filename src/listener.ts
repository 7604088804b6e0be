/**
 * The listener contract: HTTP bytes in, HTTP bytes out. It knows no route and no rule of the service.
 * Implementations: listeners/uws.ts and listeners/node.ts; test/listeners/contract.ts tests both against this contract.
 *
 * A request that is not strictly valid HTTP/1.1 (doubled or malformed Content-Length, a Transfer-Encoding other than
 * `chunked`, a repeated header that may come only once) gets 400, its connection is closed, and no handler sees it.
 * No answer is sent in the tick in which its request was parsed: if a second request was smuggled into the same read, the
 * first one is still pending, and the connection is closed.
 */
export interface HttpRequest {
  /** As received, in any case. */
  method: string;
  /** As received, neither decoded nor normalised, without the query. */
  path: string;
  /** The part after `?`, or an empty string. */
  query: string;
  /** By lower-case name; the lines of a repeated header are joined by `, `. */
  headers: ReadonlyMap<string, string>;
  /** The socket's other end, as text: `127.0.0.1`, `2001:db8::1`; IPv4-mapped addresses as IPv4. */
  address: string;
  /** The declared length; null if there is none. */
  contentLength: number | null;
  /**
   * Reads the body; call it at most once. Rejects with Refusal("too-large") as soon as more than `limitBytes` have arrived,
   * whatever length was declared, and with RequestGone if the client has left.
   */
  body(limitBytes: number): Promise<Buffer>;
}

/** The client left before the answer. */
export class RequestGone extends Error {
  constructor() {
    super("The client is gone");
    this.name = "RequestGone";
  }
}

/** An open answer, for a stream. */
export interface Outlet {
  /**
   * Sends a chunk. Chunks of one tick leave in one write. A reader that leaves more than UNREAD_LIMIT_BYTES unread in this
   * process is disconnected: the connection closes and `onGone` is called.
   */
  write(chunk: string | Uint8Array): void;
  /** Sends the last chunk, if any, and ends the body. */
  end(chunk?: string | Uint8Array): void;
  /** Calls back once, when the connection has taken everything written so far; never if it is gone. */
  onDrained(callback: () => void): void;
  /**
   * For a body of known length: calls `next` now, and again each time that everything written has been taken, until the end.
   * So the body is written only as fast as it is read. A reader that takes nothing for about 10 s is disconnected.
   */
  pull(next: () => void): void;
  /** Closes the connection in the middle of the body, so that the client sees an incomplete answer. `why` is not sent. */
  cut(why?: unknown): void;
  /** Calls back once when the client has left or was disconnected, at once if that has happened already; not after `end`. */
  onGone(callback: () => void): void;
}

/** The most that one reader may leave unread in this process (contract, A client that goes away). */
export const UNREAD_LIMIT_BYTES = 1_048_576;

/**
 * The most that all readers together may leave unread in this process. Beyond it no long answer is begun: no page of history,
 * and no replay of a run. 10,000 readers that keep up have a few kilobytes each.
 */
export const UNREAD_TOTAL_BYTES = 67_108_864;

/** A longer head never reaches a handler: its connection gets 431 from the parser, and is closed. */
export const HEAD_LIMIT_BYTES = 32_768;

/** Longer than the 60 s for which most load balancers keep a connection that they may use again. */
export const KEEP_ALIVE_MS = 75_000;

export interface HttpAnswer {
  status: number;
  /** Lower-case names. The listener itself sets `content-length`, `date` and `connection`. */
  headers: Record<string, string>;
  /** The whole body; absent: empty. */
  body?: string | Uint8Array;
  /** Instead of a body: called once, after status and headers were sent, to write to the outlet. */
  stream?: (outlet: Outlet) => void;
  /** True: close the connection after this answer. */
  close?: boolean;
}

/** Must not reject; if it does, the listener answers 500 with an empty body, and closes the connection. */
export type Handler = (request: HttpRequest) => Promise<HttpAnswer>;

export interface Listener {
  readonly kind: "uws" | "node";
  readonly host: string;
  /** The actual port, also if port 0 was requested. */
  readonly port: number;
  /** Answers being written, streams included. */
  inFlight(): number;
  /** How long a connection without a request stays open, at least; less than requested if this build cannot keep it so long. */
  readonly keepAliveMs: number;
  /** Accepts no new connections; requests in flight continue. */
  stopAccepting(): void;
  /** Ends every connection now. */
  close(): Promise<void>;
}

export interface ListenOptions {
  host: string;
  port: number;
  /** True: other processes of this service listen on the same port too. Otherwise only this process does. */
  isShared?: boolean;
  handler: Handler;
  /**
   * See HEAD_LIMIT_BYTES, which is the default. Of uWebSockets.js the first listener of a process decides, or who loaded the
   * library before it.
   */
  headLimitBytes?: number;
  /** A connection stays open for as long after an answer; 1 s to 15 min. Default: KEEP_ALIVE_MS. */
  keepAliveMs?: number;
  /** Gets errors that the handler or one of its streams threw; the request is over. Without it: a process warning. */
  onFault?: OnFault;
}

export type OnFault = (error: unknown) => void;

export type Listen = (options: ListenOptions) => Promise<Listener>;
