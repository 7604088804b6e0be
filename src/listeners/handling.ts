import { RequestGone } from "../listener.ts";
import type { Handler, HttpAnswer, HttpRequest, OnFault, Outlet } from "../listener.ts";
import { checkHeaders } from "./answer-head.ts";

export const MALFORMED: HttpAnswer = { status: 400, headers: {}, close: true };
export const FULL: HttpAnswer = { status: 503, headers: { "retry-after": "1" }, close: true };
const FAILED: HttpAnswer = { status: 500, headers: {}, close: true };

/** The handler's answer, or 500 where it threw, or answered with headers that cannot be sent. Never rejects. */
export async function askHandler(
  handler: Handler,
  request: HttpRequest,
  onFault: OnFault,
): Promise<HttpAnswer> {
  try {
    const answer = await handler(request);
    checkHeaders(answer.headers);
    return answer;
  } catch (error) {
    // Nobody is left to tell, and nothing went wrong here.
    if (!(error instanceof RequestGone)) onFault(error);
    return FAILED;
  }
}

/** Starts a stream; false where its function threw, and the connection is to be closed. */
export function startStream(
  stream: NonNullable<HttpAnswer["stream"]>,
  outlet: Outlet,
  onFault: OnFault,
): boolean {
  try {
    stream(outlet);
    return true;
  } catch (error) {
    onFault(error);
    return false;
  }
}

/** What a stream is given where nobody reads: whoever writes learns it at once. */
export const goneOutlet: Outlet = {
  write: () => {},
  end: () => {},
  onGone: (callback) => callback(),
};

/** Where a fault is told to nobody else. */
export function warnOfFault(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
