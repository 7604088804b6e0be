import { spread } from "../../client/core/spread.ts";

/** Waits between attempts to load again; the last one repeats. */
const WAITS_SECONDS = [2, 5, 15, 30, 60];

/**
 * Retries automatically what failed: after a while, and at once when the visitor looks at the page again or is back
 * online. Never while the panel is not seen.
 */
export class Recovery {
  readonly #retry: () => void;
  readonly #isSeen: () => boolean;
  #failures = 0;
  #isDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(retry: () => void, isSeen: () => boolean) {
    this.#retry = retry;
    this.#isSeen = isSeen;
  }

  /** `retryAfterSeconds`: what the service asked for. */
  failed(retryAfterSeconds: number): void {
    const seconds = WAITS_SECONDS[Math.min(this.#failures, WAITS_SECONDS.length - 1)] ?? 0;
    const ms = 1_000 * Math.max(retryAfterSeconds, spread(seconds));
    this.#failures += 1;
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
    this.#failures = 0;
  }
}
