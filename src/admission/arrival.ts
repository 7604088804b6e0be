import { Refusal } from "../domain/refusal.ts";
import type { HttpRequest } from "../listener.ts";

/** The parts of a request that admission needs: no path, no body. */
export type RequestHead = Pick<HttpRequest, "method" | "headers" | "address" | "contentLength">;

/** A request before its admission. */
export interface Arrival {
  readonly request: RequestHead;
  /** Gets the ids of the caller as soon as they are known, so that the log has them for a refusal too. Never a credential. */
  readonly note: (ids: Readonly<Record<string, string>>) => void;
}

/** Throws Refusal("too-large") if the declared length is over the limit. A body without a declared length is counted as it arrives. */
export function mustDeclareAtMost(limitBytes: number, request: Pick<RequestHead, "contentLength">): void {
  if ((request.contentLength ?? 0) > limitBytes) throw new Refusal("too-large");
}
