import { Problem, problemOf } from "./problem.ts";
import type { Page } from "./views.ts";

export type Query = Record<string, string | number | null | undefined>;

/** The operator API, asked with one key. Rejects with a Problem. */
export interface Api {
  get<Value>(path: string, query?: Query, signal?: AbortSignal): Promise<Value>;
  list<Item>(path: string, query?: Query, signal?: AbortSignal): Promise<Page<Item>>;
  /** Null where the answer is empty. */
  send<Value = null>(
    method: "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
  ): Promise<Value>;
  /** A body that stays open. */
  open(
    path: string,
    query: Query,
    signal: AbortSignal,
    method?: "GET" | "POST",
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

interface Asked {
  method?: string;
  /** JSON */
  body?: string;
  signal?: AbortSignal;
}

const BASE = "/v1/operator";

/** `onUnauthorized`: the key is not, or no longer, valid. */
export function createApi(key: string, onUnauthorized: () => void): Api {
  async function ask(path: string, query: Query = {}, asked: Asked = {}): Promise<Response> {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(asked.body === undefined ? {} : { "content-type": "application/json" }),
    };
    const request = fetch(BASE + path + queryText(query), { ...asked, headers, credentials: "omit" });
    const response = await request.catch((error: unknown) => {
      if (asked.signal?.aborted) throw error;
      throw new Problem(0, "The service cannot be reached. Is your connection up?");
    });
    if (response.status === 401) onUnauthorized();
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  const withSignal = (signal: AbortSignal | undefined) => (signal ? { signal } : {});

  // Casts below: the service's answers are what the callers' types say (views.ts).

  return {
    get: async <Value>(path: string, query?: Query, signal?: AbortSignal) =>
      (await (await ask(path, query, withSignal(signal))).json()) as Value,
    list: async <Item>(path: string, query?: Query, signal?: AbortSignal) =>
      (await (await ask(path, query, withSignal(signal))).json()) as Page<Item>,
    async send<Value = null>(method: string, path: string, body?: unknown) {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const text = await (await ask(path, {}, { method, ...json })).text();
      return (text === "" ? null : JSON.parse(text)) as Value;
    },
    async open(path, query, signal, method = "GET") {
      const { body } = await ask(path, query, { method, signal });
      if (body === null) throw new Problem(0, "The service answered without a body.");
      return body;
    },
  };
}

function queryText(query: Query): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** A path of these segments, as they come. */
export function pathOf(...segments: string[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
}
