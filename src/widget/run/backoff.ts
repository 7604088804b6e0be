import { spread } from "../../client/core/spread.ts";
import { Refused } from "../service/widget-api.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";
import { pauseCut } from "./pause.ts";

/** Waits between attempts; after the last one the visitor is asked. A restart of the service takes less. */
const WAITS_SECONDS = [1, 3, 9, 20];

/** If the service asks for a longer wait than this, the visitor has to press Retry. */
const MAX_RETRY_AFTER_SECONDS = 30;

/** How often, and how soon, a request without an answer is repeated. */
export class Backoff {
  readonly #dependencies: Pick<ConversationDependencies, "view" | "host">;
  readonly #signal: AbortSignal;
  #failures = 0;

  constructor(dependencies: Pick<ConversationDependencies, "view" | "host">, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#signal = signal;
  }

  /** Call when the service answers. */
  reset(): void {
    this.#failures = 0;
  }

  /** Waits for the next attempt; resolves to false if there is none left. Rejects with the signal's reason. */
  async wait(cause: unknown): Promise<boolean> {
    const seconds = WAITS_SECONDS[this.#failures];
    if (seconds === undefined || this.#dependencies.view.state.isOriginRefused) return false;
    this.#failures += 1;
    const asked = cause instanceof Refused ? cause.retryAfterSeconds : 0;
    const ms = 1_000 * Math.max(spread(seconds), Math.min(asked, MAX_RETRY_AFTER_SECONDS));
    if (await pauseCut(this.#dependencies, ms, this.#signal)) this.reset();
    this.#signal.throwIfAborted();
    return true;
  }
}
