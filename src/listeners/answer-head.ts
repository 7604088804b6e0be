import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";
import type { HttpAnswer } from "../listener.ts";

const LISTENERS_OWN: ReadonlySet<string> = new Set([
  "content-length",
  "date",
  "connection",
  "transfer-encoding",
]);

/** `200 OK` */
export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? "Unknown"}`;
}

/** Throws if a header would break the answer's framing: CR or LF in a value, an invalid name, a name that the listener sets. */
export function checkHeaders(headers: HttpAnswer["headers"]): void {
  for (const name in headers) {
    if (LISTENERS_OWN.has(name)) throw new Error(`Cannot send header ${name}: it is the listener's own`);
    validateHeaderName(name);
    validateHeaderValue(name, headers[name] ?? "");
  }
}

/** Statuses whose answers have no body, and no Content-Length either. */
export function hasNoBody(status: number): boolean {
  return status === 204 || status === 304;
}

export function bodyBytes(body: string | Uint8Array | undefined): number {
  if (body === undefined) return 0;
  return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
}
