/**
 * Where a request ends, and its headers. Anything that strict HTTP/1.1 does not allow is a fault, even if the parser
 * accepted it: if two parsers disagree about the end, the next request is a smuggled one.
 */
export interface Framing {
  /** By lower-case name; repeated lines joined by `, `. */
  headers: ReadonlyMap<string, string>;
  contentLength: number | null;
  /** The body comes in chunks, its length unknown. */
  chunked: boolean;
}

/** Headers that decide something: a second line could overrule the first, or hide behind it. */
const AT_MOST_ONCE: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "content-type",
  "content-encoding",
  "authorization",
  "origin",
  "expect",
  "sec-fetch-site",
  "x-visitor-token",
  "x-publishable-key",
]);

/** Any number of digits: a length far above every limit is refused as too large, not as malformed. */
const CONTENT_LENGTH = /^\d+$/;

/** Takes header lines in the order of the request. */
export class FramingReader {
  readonly #headers = new Map<string, string>();
  #faulty = false;

  /** `name` in lower case. */
  add(name: string, value: string): void {
    const before = this.#headers.get(name);
    if (before === undefined) {
      this.#headers.set(name, value);
      return;
    }
    if (AT_MOST_ONCE.has(name)) this.#faulty = true;
    this.#headers.set(name, `${before}, ${value}`);
  }

  /** What the lines say; null if the request must not be handled. */
  read(): Framing | null {
    const headers = this.#headers;
    const length = headers.get("content-length");
    const coding = headers.get("transfer-encoding");
    if (this.#faulty || !headers.get("host")) return null;
    if (length !== undefined && (coding !== undefined || !CONTENT_LENGTH.test(length))) return null;
    if (coding !== undefined && coding.toLowerCase() !== "chunked") return null;
    return {
      headers,
      contentLength: length === undefined ? null : Number(length),
      chunked: coding !== undefined,
    };
  }
}

/** Methods whose requests usually have a body. */
const WITH_BODY: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * True if the connection may be used again after this request. Not after a chunked body: uWebSockets.js misreads
 * chunk extensions and trailers. Not after a POST that declares no body: a header line with an empty name hides a
 * Content-Length that follows it. In both cases the next bytes may be the rest of this request.
 */
export function leavesConnectionClean(method: string, framing: Framing): boolean {
  if (framing.chunked) return false;
  return framing.contentLength !== null || !WITH_BODY.has(method);
}
