import type { Abortable, ClientOptions, ServiceError as DeclaredError } from "./client.d.ts";
import { isRefusal } from "./core/refusals.ts";
import { spread } from "./core/spread.ts";

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
  /** Waits before the nth retry in a row; rejects with the error if a retry is of no use. */
  recover(error: unknown, nth: number, signal: AbortSignal | undefined): Promise<void>;
}

export interface Sent extends Abortable {
  body?: object;
  key?: string;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

export function createRequests({ baseUrl, key, retries = 8, fetch: send = fetch }: ClientOptions): Requests {
  const base = baseUrl.replace(/(?<!\/)\/+$/, "");

  async function ask(path: string, { body, key: own = key, signal }: Sent = {}): Promise<Response> {
    const response = await send(`${base}/v1/${path}`, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${own}`, ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    });
    if (response.ok) return response;
    throw new ServiceError(response, await response.text());
  }

  async function recover(error: unknown, nth: number, signal: AbortSignal | undefined): Promise<void> {
    const { status, retryAfterMs } = error instanceof ServiceError ? error : { status: 0, retryAfterMs: 0 };
    if (isRefusal(status) || signal?.aborted || nth > retries) throw error;
    const grown = Math.min(FIRST_PAUSE_MS * 2 ** (nth - 1), LONGEST_PAUSE_MS);
    await pause(Math.max(retryAfterMs, spread(grown)), signal);
  }

  return {
    ask,
    recover,
    async insist(path, sent = {}) {
      for (let nth = 0; ; nth++) {
        try {
          return await ask(path, sent);
        } catch (error) {
          await recover(error, nth + 1, sent.signal);
        }
      }
    },
  };
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
