/**
 * A refusal of a request, before any stream: an answer that the spec foresees, thrown where its reason is found.
 * `src/http/route.ts` has the one table that maps the reason to a status.
 */
export type RefusalReason =
  | "unauthorized" // 401
  | "forbidden" // 403
  | "not-found" // 404
  | "conflict" // 409
  | "too-large" // 413
  | "unsupported-encoding" // 415
  | "invalid" // 422
  | "rate-limited" // 429
  | "unavailable"; // 503: the store cannot be reached

export class Refusal extends Error {
  readonly reason: RefusalReason;
  /** One short line for the server API; the widget API answers without a body. Never a secret. */
  readonly text: string;
  /** Seconds to wait before a retry; with `rate-limited` and `unavailable`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: RefusalReason, text = "", retryAfterSeconds?: number) {
    super(text === "" ? reason : `${reason}: ${text}`);
    this.name = "Refusal";
    this.reason = reason;
    this.text = text;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
