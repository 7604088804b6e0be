/** The service answered with an error status. */
export class Refused extends Error {
  readonly status: number;
  /** Of a 429 or 503; 1 if the service gave none. */
  readonly retryAfterSeconds: number;

  constructor(status: number, retryAfterSeconds: number) {
    super(`The service answered ${status}`);
    this.name = "Refused";
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The status of a refusal; 0 for any other error. */
export function refusedStatus(error: unknown): number {
  return isRefused(error) ? error.status : 0;
}

/** Recognized by its name: the script and its second file each have their own class. */
function isRefused(error: unknown): error is Refused {
  return error instanceof Error && error.name === "Refused";
}

/** The seconds that a refusal asks to wait; 0 for any other error. */
export function askedSeconds(error: unknown): number {
  return isRefused(error) ? error.retryAfterSeconds : 0;
}

/** The seconds to wait after a 429; 0 for any other error. */
export function busySeconds(error: unknown): number {
  return refusedStatus(error) === 429 ? askedSeconds(error) : 0;
}

/** The id of a stream's run; null if the service does not send it. */
export function runIdOf(response: Response): string | null {
  return response.headers.get("x-run-id");
}

/** Names of the posted tools that cannot be offered to a model; null: all can. */
export function droppedToolsOf(response: Response): string | null {
  const names = response.headers.get("x-dropped-tools");
  return names && decodeURIComponent(names);
}

/** No answer: offline, service down, or origin not allowed. A browser does not say which. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super("Cannot reach the chat service: no answer, or this page's origin is not among the channel's", {
      cause,
    });
    this.name = "Unreachable";
  }
}

export interface ApiRequest {
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  file?: Blob;
  method?: "GET" | "POST";
  visitorToken?: string;
  /** In place of a token, to create a visitor. */
  publishableKey?: string;
  signal?: AbortSignal;
}

/** One function for all routes: one for each would say no more than its path. */
export type WidgetApi = (request: ApiRequest) => Promise<Response>;

/** Requests `{base_url}/v1/widget…`. Rejects with Refused, Unreachable, or the signal's reason. */
export function widgetApiAt(baseUrl: string): WidgetApi {
  return async ({ path, body, file, method = "POST", visitorToken, publishableKey, signal }) => {
    const headers = new Headers();
    if (file !== undefined) headers.set("content-type", "application/octet-stream");
    else if (body !== undefined) headers.set("content-type", "application/json");
    if (visitorToken !== undefined) headers.set("x-visitor-token", visitorToken);
    if (publishableKey !== undefined) headers.set("x-publishable-key", publishableKey);
    let response: Response;
    try {
      response = await fetch(`${baseUrl}/v1/widget${path}`, {
        method,
        headers,
        ...(file === undefined ? {} : { body: file }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // The token is the whole identity; cookies of the service's origin are not needed.
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
