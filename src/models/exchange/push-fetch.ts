import { Agent } from "undici";
import { PostExchange } from "./post-exchange.ts";
import type { Posted } from "./pushed-response.ts";

/**
 * Posts on undici's dispatch: answers push their bodies instead of being pulled through web streams. 12 µs instead of 28 µs
 * per chunk, 0.3 ms instead of 1 ms per request.
 *
 * Sends text; returns the head, and the text of an answer with an error status. No redirects (a
 * key must not follow one). Compression is not asked for, and decoded if it comes. An answer that falls silent is a fault; there are no other timeouts.
 */
export interface PushFetch {
  post(to: Destination, body: string, signal: AbortSignal | null): Promise<Posted>;
  /** Also ends open requests. */
  close(): Promise<void>;
}

export interface Destination {
  origin: string;
  /** With the query. */
  path: string;
  /** Names and values alternate. */
  headers: readonly string[];
}

/** Longer than most servers keep an idle connection; a server's keep-alive header can shorten it. */
const KEEP_ALIVE_MS = 60_000;

/** `silenceMs`: the longest wait for the first byte, and between any two bytes. */
export function openPushFetch(silenceMs: number): PushFetch {
  const agent = new Agent({ keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: 0, bodyTimeout: 0 });
  return {
    post: ({ origin, path, headers }, body, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        agent.dispatch(
          { origin, path, method: "POST", headers: [...headers, "accept-encoding", "identity"], body },
          new PostExchange({ resolve, reject, signal, silenceMs }),
        );
      }),
    close: () => agent.destroy(),
  };
}
