import { createBackoff } from "../../../client/core/backoff.ts";
import { Refused } from "../../service/widget-api.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { pauseCut } from "./pause.ts";

/** Waits between attempts; after the last one the visitor is asked. A restart of the service takes less. */
const WAITS_MS = [1_000, 3_000, 9_000, 20_000];

/** If the service asks for a longer wait than this, the visitor has to press Retry. */
const MAX_RETRY_AFTER_SECONDS = 30;

/** How often, and how soon, a request without an answer is repeated. */
export class Backoff {
  readonly #dependencies: Pick<ConversationDependencies, "view" | "host">;
  readonly #signal: AbortSignal;
  readonly #waits = createBackoff(WAITS_MS, WAITS_MS.length);

  constructor(dependencies: Pick<ConversationDependencies, "view" | "host">, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#signal = signal;
  }

  /** Call when the service answers. */
  reset(): void {
    this.#waits.reset();
  }

  /** Waits for the next attempt; resolves to false if there is none left. Rejects with the signal's reason. */
  async wait(cause: unknown): Promise<boolean> {
    if (this.#dependencies.view.state.isOriginRefused) return false;
    const asked = cause instanceof Refused ? cause.retryAfterSeconds : 0;
    const ms = this.#waits.next(1_000 * Math.min(asked, MAX_RETRY_AFTER_SECONDS));
    if (ms === null) return false;
    if (await pauseCut(this.#dependencies, ms, this.#signal)) this.reset();
    this.#signal.throwIfAborted();
    return true;
  }
}
