import { cutText } from "../../../machines/line.ts";

/** Of what a server says in an error, in the log. */
const MAX_LOGGED_CHARS = 2_000;

/** The server answered with an error status. */
export class ErrorAnswer extends Error {
  readonly status: number;
  readonly headers: Headers;
  /** As much of it as was read; empty: there was none. */
  readonly body: string;

  constructor({ status, headers }: Pick<Response, "status" | "headers">, body: string) {
    super(`${status} ${cutText(body, MAX_LOGGED_CHARS)}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}
