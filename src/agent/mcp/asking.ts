import { AsyncLocalStorage } from "node:async_hooks";
import type { Caller } from "./identity.ts";

/** A request that is being sent: the transport is shared by all of them. */
export interface Asking {
  caller: Caller | null;
  traceparent: string | null;
  /** Ids of JSON-RPC that were posted and have no answer. Connecting posts a notification after its request. */
  readonly unanswered: Set<unknown>;
  /** No answer can come any more: the request fails with this error, unless it has its answer already. */
  lose(error: Error): void;
}

/** Which request is being sent, for all that its transport does for it: also while a stream is read, or resumed. */
export class AskingNow {
  readonly #storage = new AsyncLocalStorage<Asking>();

  get present(): Asking | null {
    return this.#storage.getStore() ?? null;
  }

  /**
   * What the request answers, or the error with which it was lost; the reason of the signal where that is aborted first.
   * `send` has a signal of its own, which ends the SDK's waiting.
   */
  async ask<T>(
    about: Pick<Asking, "caller" | "traceparent">,
    send: (lost: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted();
    const lost = new AbortController();
    return new Promise<T>((resolve, reject) => {
      let isOver = false;
      const lose = (error: Error) => {
        // The SDK leaves a listener on the signal, and would tell the server that an answered request is cancelled.
        if (isOver) return;
        isOver = true;
        reject(error);
        lost.abort(error);
      };
      const onAbort = () => lose(signal?.reason as Error);
      signal?.addEventListener("abort", onAbort, { once: true });
      void this.#storage
        .run({ ...about, unanswered: new Set(), lose }, () => send(lost.signal))
        .finally(() => {
          isOver = true;
          signal?.removeEventListener("abort", onAbort);
        })
        .then(resolve, reject);
    });
  }
}
