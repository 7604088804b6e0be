/** The widget API as requests: one function a route would be as long as its path, so there is one for all. */

/** An answer that is a no. */
export class Refused extends Error {
  readonly status: number;
  /** Of a 429; 1 where the service told none. */
  readonly retryAfterSeconds: number;

  constructor(status: number, retryAfterSeconds: number) {
    super(`The service answered ${status}`);
    this.name = "Refused";
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The status of a refusal; 0 of any other error. */
export function refusedStatus(error: unknown): number {
  return error instanceof Refused ? error.status : 0;
}

/** No answer: offline, the service is away, or it does not allow this page's origin (a browser does not tell which). */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super("Cannot reach the chat service: no answer, or this page's origin is not among the channel's", {
      cause,
    });
    this.name = "Unreachable";
  }
}

export interface Ask {
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  method?: "GET" | "POST";
  /** The visitor's token, or the publishable key where a visitor is made. */
  token?: string;
  publishableKey?: string;
  signal?: AbortSignal;
}

export type Service = (ask: Ask) => Promise<Response>;

/** Asks `{base_url}/v1/widget…`. Rejects with Refused, Unreachable, or the reason of an abort. */
export function serviceAt(baseUrl: string): Service {
  return async ({ path, body, method = "POST", token, publishableKey, signal }) => {
    const headers = new Headers();
    if (body !== undefined) headers.set("content-type", "application/json");
    if (token !== undefined) headers.set("x-visitor-token", token);
    if (publishableKey !== undefined) headers.set("x-publishable-key", publishableKey);
    let response: Response;
    try {
      response = await fetch(`${baseUrl}/v1/widget${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // The token is the whole identity: cookies of the service's origin have no business here.
        credentials: "omit",
        cache: "no-store",
        signal: signal ?? null,
      });
    } catch (cause) {
      signal?.throwIfAborted();
      throw new Unreachable(cause);
    }
    if (response.ok) return response;
    void response.body?.cancel();
    throw new Refused(response.status, Number(response.headers.get("retry-after")) || 1);
  };
}
