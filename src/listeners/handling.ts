import { RequestGone } from "../listener.ts";
import type { Handler, HttpAnswer, HttpRequest, OnFault, Outlet } from "../listener.ts";
import { checkHeaders } from "./answer-head.ts";

export const MALFORMED: HttpAnswer = { status: 400, headers: {}, close: true };
export const FULL: HttpAnswer = { status: 503, headers: { "retry-after": "1" }, close: true };
const FAILED: HttpAnswer = { status: 500, headers: {}, close: true };

/** The handler's answer; 500 if it threw, or answered with headers that cannot be sent. Never rejects. */
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
    // The client left: no fault.
    if (!(error instanceof RequestGone)) onFault(error);
    return FAILED;
  }
}

/** Starts a stream. False if its function threw: the caller closes the connection. */
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

/** The outlet of a stream that has no reader. */
export const goneOutlet: Outlet = {
  write: () => {},
  end: () => {},
  onDrained: () => {},
  pull: () => {},
  cut: () => {},
  onGone: (callback) => callback(),
};

/** Reports a fault if the listener was opened without `onFault`. */
export function warnOfFault(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
