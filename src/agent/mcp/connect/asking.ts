import { AsyncLocalStorage } from "node:async_hooks";
import type { Transport } from "@modelcontextprotocol/client";
import type { Caller } from "../identity.ts";

/** A request that is being sent: the transport is shared by all of them. */
export interface Asking {
  caller: Caller | null;
  traceparent: string | null;
  /** Ids of JSON-RPC that were posted and have no answer. Connecting posts a notification after its request. */
  readonly unanswered: Set<unknown>;
  /** The result as it came; undefined: none came yet. */
  result?: unknown;
  /** What the server asked the visitor meanwhile: the parameters of each `elicitation/create` (MCP 2025-06-18 to 2025-11-25). */
  readonly wanted: unknown[];
  /** No answer can come any more: the request fails with this error, unless it has its answer already. */
  lose(error: Error): void;
}

/** Which request is being sent, for all that its transport does for it: also while a stream is read, or resumed. */
export class AskingNow {
  readonly #storage = new AsyncLocalStorage<Asking>();

  /** By the id of JSON-RPC: a process answers all on one stream. */
  readonly #byId = new Map<unknown, Asking>();

  get present(): Asking | null {
    return this.#storage.getStore() ?? null;
  }

  /**
   * Keeps each result as it came, before the SDK reads it: of a server of 2026-07-28 the SDK takes no part of a result in
   * which one part is odd. Call it before connecting.
   */
  watch(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const { present } = this;
      if (present && "method" in message && "id" in message) this.#byId.set(message.id, present);
      return send(message, options);
    };
    // The SDK calls it before its own.
    transport.onmessage = (message) => {
      if ("method" in message) return;
      const asked = this.#byId.get(message.id);
      asked?.unanswered.delete(message.id);
      if (asked && "result" in message) asked.result = message.result;
    };
  }

  /** Of a process it is not known which call asks, unless there is one alone: then nobody is shown the question. */
  noteWanted(params: unknown): void {
    const sent = new Set(this.#byId.values());
    const { present } = this;
    if (present && sent.has(present)) present.wanted.push(params);
    else if (sent.size === 1) for (const one of sent) one.wanted.push(params);
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
      const asking: Asking = { ...about, unanswered: new Set(), wanted: [], lose };
      void this.#storage
        .run(asking, () => send(lost.signal))
        .finally(() => {
          isOver = true;
          for (const [id, one] of this.#byId) if (one === asking) this.#byId.delete(id);
          signal?.removeEventListener("abort", onAbort);
        })
        .then(resolve, reject);
    });
  }
}
