import type { z } from "zod";
import type { Api } from "../domain/threads/message.ts";
import type { Refusal, RefusalReason } from "../domain/refusal.ts";
import type { HttpAnswer, HttpRequest } from "../listener.ts";

/** A request, as its route gets it. */
export interface RouteRequest {
  readonly request: HttpRequest;
  /** The `:name` segments of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The W3C trace context in which the request is handled: its span's, else that of a caller with a key; or null. */
  readonly traceparent: string | null;
  /** Adds ids to the request's line in the log; never a credential. */
  readonly note: (ids: Readonly<Record<string, string>>) => void;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/**
 * `server`: for backends; refusals have a line of text. `operator`: the same, for operators. `widget`: for browsers; refusals
 * are empty, and every answer has CORS headers. `open`: needs no credential.
 */
export type RouteApi = Api | "operator" | "open";

/** One endpoint: its address, documentation and code. Documentation is not optional. */
export interface Route {
  method: Method;
  /** `/v1/widget/threads/:id/messages`: a segment with a colon matches one segment of the path, a final `*` all the rest. */
  path: string;
  api: RouteApi;
  /** For `/swagger`; `hidden`: not an endpoint of the API, but a file or a tool beside it. */
  documentation: Documentation | "hidden";
  /** May throw a Refusal, which `refusalAnswer` turns into an answer. */
  handle(incoming: RouteRequest): Promise<HttpAnswer>;
}

export type Credential = "transportKey" | "secretKey" | "publishableKey" | "visitorToken" | "operatorKey";

export interface Documentation {
  summary: string;
  description: string;
  credential: Credential | null;
  params: Record<string, Field>;
  query: Record<string, Field>;
  /** Request headers other than the credential. */
  headers: Record<string, Field>;
  /** `isFile`: no JSON, but a file, by itself or in a form. */
  body: { schema: z.ZodType; example: unknown; isFile?: boolean } | null;
  answers: Record<number, AnswerDocumentation>;
}

export interface Field {
  description: string;
  schema: z.ZodType;
  required: boolean;
  example: string | number;
}

export interface AnswerDocumentation {
  description: string;
  /** Response headers that a client should know. */
  headers: Record<string, string>;
  body: { type: ContentType; schema: z.ZodType; example: unknown } | null;
}

export type ContentType =
  | "application/json"
  | "application/x-ndjson"
  | "text/event-stream"
  | "text/plain; charset=utf-8"
  /** A file, of any type. */
  | "*/*";

/** GET of a file for everybody. It is loaded at the first request and kept; a failure is tried again. */
export function fileRoute(path: string, load: () => Promise<HttpAnswer>): Route {
  let loaded: Promise<HttpAnswer> | null = null;
  return {
    method: "GET",
    path,
    api: "open",
    documentation: "hidden",
    handle: () =>
      (loaded ??= load().catch((error: unknown) => {
        loaded = null;
        throw error;
      })),
  };
}

/** Answers depend on credentials, which caches ignore; some caches would store even a 404 or a 405. */
export const UNSTORED = { "cache-control": "no-store" };

/** The one table that maps the reason of a refusal to its status, and to the default text of the server API. */
const REFUSALS: Record<RefusalReason, { status: number; text: string }> = {
  unauthorized: { status: 401, text: "Unauthorized" },
  forbidden: { status: 403, text: "" },
  "not-found": { status: 404, text: "Not found" },
  conflict: { status: 409, text: "Conflict" },
  "too-large": { status: 413, text: "Too large" },
  "unsupported-encoding": { status: 415, text: "Unsupported content-encoding" },
  invalid: { status: 422, text: "The body does not match the schema" },
  "rate-limited": { status: 429, text: "Too many requests" },
  unavailable: { status: 503, text: "" },
};

/** Reasons whose text does not depend on the refusal: an empty 403 and 503, and one 401 for every wrong key. */
const FIXED_TEXT: ReadonlySet<RefusalReason> = new Set(["unauthorized", "forbidden", "unavailable"]);

export function statusOf(reason: RefusalReason): number {
  return REFUSALS[reason].status;
}

/** A refusal as an answer: empty on the widget API, one short line of text on the server API (contract, Error bodies). */
export function refusalAnswer(refusal: Refusal, api: RouteApi): HttpAnswer {
  const { reason, retryAfterSeconds } = refusal;
  const { status, text } = REFUSALS[reason];
  const waitSeconds = reason === "unavailable" ? (retryAfterSeconds ?? 1) : retryAfterSeconds;
  const headers = {
    ...UNSTORED,
    ...(waitSeconds === undefined ? {} : { "retry-after": String(waitSeconds) }),
    // RFC 9110, section 11.6.1: a 401 names its challenge. The realm says which of the service's keys opens.
    ...(reason === "unauthorized" && refusal.text !== ""
      ? { "www-authenticate": `Bearer realm="${refusal.text}"` }
      : {}),
  };
  if (!hasTexts(api)) return { status, headers };
  return textAnswer(status, FIXED_TEXT.has(reason) ? text : refusal.text || text, headers);
}

/** Do refusals of this API have a line of text? */
export function hasTexts(api: RouteApi): boolean {
  return api === "server" || api === "operator";
}

export function textAnswer(status: number, text: string, headers: Record<string, string> = {}): HttpAnswer {
  if (text === "") return { status, headers };
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body: text };
}

export function jsonAnswer(status: number, value: unknown): HttpAnswer {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...UNSTORED },
    body: JSON.stringify(value),
  };
}

export function emptyAnswer(status: number, headers: HttpAnswer["headers"] = {}): HttpAnswer {
  return { status, headers: { ...UNSTORED, ...headers } };
}
