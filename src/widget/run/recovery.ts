import { createBackoff } from "../../client/core/backoff.ts";

/** Waits between attempts to load again; the last one repeats. */
const WAITS_MS = [2_000, 5_000, 15_000, 30_000, 60_000];

/**
 * Retries automatically what failed: after a while, and at once when the visitor looks at the page again or is back
 * online. Never while the panel is not seen.
 */
export class Recovery {
  readonly #retry: () => void;
  readonly #isSeen: () => boolean;
  readonly #waits = createBackoff(WAITS_MS);
  #isDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(retry: () => void, isSeen: () => boolean) {
    this.#retry = retry;
    this.#isSeen = isSeen;
  }

  /** `retryAfterSeconds`: what the service asked for. */
  failed(retryAfterSeconds: number): void {
    const ms = this.#waits.next(1_000 * retryAfterSeconds) ?? 0;
    this.#isDue = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.now(), ms);
  }

  /** Retries, if something has failed. */
  now(): void {
    if (!this.#isDue || !this.#isSeen()) return;
    clearTimeout(this.#timer);
    this.#isDue = false;
    this.#retry();
  }

  succeeded(): void {
    clearTimeout(this.#timer);
    this.#isDue = false;
    this.#waits.reset();
  }
}
