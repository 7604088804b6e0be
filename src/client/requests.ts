import type { Abortable, ClientOptions, ServiceError as DeclaredError } from "./client.d.ts";
import { createBackoff, doubling } from "./core/backoff.ts";
import { pause } from "./core/pause.ts";
import { isRefusal } from "./core/refusals.ts";

/** An answer with a status other than 2xx. */
export class ServiceError extends Error implements DeclaredError {
  override readonly name = "ServiceError";
  readonly status: number;
  readonly retryAfterMs: number;

  constructor(response: Response, text: string) {
    super(`${response.status} ${text}`.trim());
    this.status = response.status;
    this.retryAfterMs = 1_000 * (Number(response.headers.get("retry-after")) || 0);
  }
}

export interface Requests {
  /** One request; rejects with ServiceError for a refusal. */
  ask(path: string, sent?: Sent): Promise<Response>;
  /** The same, retried during an outage: only for requests that may be sent twice. */
  insist(path: string, sent?: Sent): Promise<Response>;
  /** For what is tried again and again until it succeeds. */
  attempts(signal: AbortSignal | undefined): Attempts;
}

export interface Sent extends Abortable {
  body?: object;
  /** In place of a body. */
  file?: Blob | Uint8Array<ArrayBuffer>;
  key?: string;
}

export interface Attempts {
  /** Something has succeeded. */
  reset(this: void): void;
  /** Waits before the next attempt; rejects with the fault if that is of no use. */
  comeBack(this: void, fault: unknown): Promise<void>;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

export function createRequests({ baseUrl, key, retries = 8, fetch: send = fetch }: ClientOptions): Requests {
  const base = baseUrl.replace(/(?<!\/)\/+$/, "");

  async function ask(path: string, { body, file, key: own = key, signal }: Sent = {}): Promise<Response> {
    const response = await send(`${base}/v1/${path}`, {
      method: body || file ? "POST" : "GET",
      headers: {
        authorization: `Bearer ${own}`,
        ...(body ? { "content-type": "application/json" } : {}),
        ...(file ? { "content-type": "application/octet-stream" } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(file ? { body: file } : {}),
      ...(signal ? { signal } : {}),
    });
    if (response.ok) return response;
    throw new ServiceError(response, await response.text());
  }

  function attempts(signal: AbortSignal | undefined): Attempts {
    const { reset, next } = createBackoff(doubling(FIRST_PAUSE_MS, LONGEST_PAUSE_MS), retries);
    return {
      reset,
      async comeBack(fault) {
        const { status, retryAfterMs } =
          fault instanceof ServiceError ? fault : { status: 0, retryAfterMs: 0 };
        const pauseMs = isRefusal(status) || signal?.aborted ? null : next(retryAfterMs);
        if (pauseMs === null) throw fault;
        await pause(pauseMs, signal);
        signal?.throwIfAborted();
      },
    };
  }

  return {
    ask,
    attempts,
    async insist(path, sent = {}) {
      for (const { comeBack } = attempts(sent.signal); ;) {
        try {
          return await ask(path, sent);
        } catch (error) {
          await comeBack(error);
        }
      }
    },
  };
}
