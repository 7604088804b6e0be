import type { Abortable, ClientOptions } from "./client.d.ts";

/** An answer that is no success, or none at all within its tries. */
export class ServiceError extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(`${status} ${text}`.trim());
    this.name = "ServiceError";
    this.status = status;
  }
}

export interface Requests {
  /** One request; rejects with ServiceError for a refusal. */
  ask(path: string, sent?: Sent): Promise<Response>;
  /** The same, tried again where the service is away: for what may be done twice. */
  insist(path: string, sent?: Sent): Promise<Response>;
  /** Waits before the nth try in a row after a fault; rejects with it where that is hopeless. */
  recover(error: unknown, nth: number, signal: AbortSignal | undefined): Promise<void>;
}

export interface Sent extends Abortable {
  body?: object;
  key?: string;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

export function createRequests({ baseUrl, key, retries = 8, fetch: send = fetch }: ClientOptions): Requests {
  const base = baseUrl.replace(/\/+$/, "");

  async function ask(path: string, { body, key: own = key, signal }: Sent = {}): Promise<Response> {
    const response = await send(`${base}/v1/${path}`, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${own}`, ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    });
    if (response.ok) return response;
    const error = new ServiceError(response.status, await response.text());
    const seconds = Number(response.headers.get("retry-after"));
    throw seconds > 0 ? Object.assign(error, { retryAfterMs: seconds * 1_000 }) : error;
  }

  async function recover(error: unknown, nth: number, signal: AbortSignal | undefined): Promise<void> {
    const isRefusal = error instanceof ServiceError && error.status < 500 && error.status !== 429;
    if (isRefusal || signal?.aborted || nth > retries) throw error;
    const least = error instanceof ServiceError && "retryAfterMs" in error ? Number(error.retryAfterMs) : 0;
    const grown = Math.min(FIRST_PAUSE_MS * 2 ** nth, LONGEST_PAUSE_MS);
    // Spread: not all who lost the same instance come back at once.
    await pause(Math.max(least, grown * (0.5 + Math.random() / 2)), signal);
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
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
