import { Refusal } from "../domain/refusal.ts";
import type { HttpRequest } from "../listener.ts";

/** A request as far as admission looks at it: no path, no body. */
export type RequestHead = Pick<HttpRequest, "method" | "headers" | "address" | "contentLength">;

/** A request that asks to come in. */
export interface Arrival {
  readonly request: RequestHead;
  /** Told who it is as soon as that is known, so that the log says it of a refusal too. Never a credential. */
  readonly note: (ids: Readonly<Record<string, string>>) => void;
}

/** Throws Refusal("too-large") if the declared length is over the limit. What is not declared is counted as it arrives. */
export function mustDeclareAtMost(limitBytes: number, request: Pick<RequestHead, "contentLength">): void {
  if ((request.contentLength ?? 0) > limitBytes) throw new Refusal("too-large");
}
