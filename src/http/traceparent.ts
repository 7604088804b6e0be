import type { HttpRequest } from "../listener.ts";

/** The W3C trace context of a request; null if absent or malformed, because it is passed on to other services. */
export function traceparentOf(request: HttpRequest): string | null {
  const header = request.headers.get("traceparent") ?? "";
  return /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(header) ? header : null;
}
