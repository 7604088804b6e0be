import { addressReader } from "../admission/client-address.ts";
import { createKnownCaller } from "../admission/known-caller.ts";
import { ForeignOrigin } from "../admission/origin.ts";
import { createRefusedOrigins } from "../admission/refused-origins.ts";
import { Refusal } from "../domain/refusal.ts";
import { RequestGone } from "../listener.ts";
import type { Handler, HttpAnswer, HttpRequest } from "../listener.ts";
import { LockedRecord, NewerRecord, StoreUnavailable } from "../store.ts";
import { traceFields } from "../trace.ts";
import type { RequestSpan, Tracing } from "../trace.ts";
import { channelFactsRoute } from "./channel-facts.ts";
import { createFindRoute } from "./find-route.ts";
import type { RouteMatch } from "./find-route.ts";
import { asFastAsRead } from "./as-fast-as-read.ts";
import { headLimit } from "./head-limit.ts";
import { emptyAnswer, hasTexts, refusalAnswer, textAnswer, UNSTORED } from "./route.ts";
import type { Route, RouteApi } from "./route.ts";
import { apiRoutes } from "./routes.ts";
import type { RouteDependencies } from "./routes.ts";
import { unknownPath } from "./unknown-path.ts";
import { withCors } from "./widget-api/cors.ts";

/** What metrics count for a request. A stream counts as answered when its headers are sent. */
export interface AnsweredRequest {
  /** The route's pattern, or `none`: never the path, which a client can choose freely. */
  route: string;
  status: number;
  ms: number;
}

export interface HandlerDependencies extends RouteDependencies {
  /** Routes besides the API: the front page, the widget's script, metrics. */
  extraRoutes?: readonly Route[];
  /** Which routes there are; absent: all. */
  isServed?: (route: Route) => boolean;
  onAnswered?: (answered: AnsweredRequest) => void;
  /** Absent: traces are off. */
  tracing?: Tracing;
}

/** Handles every request: finds its route, answers or refuses as the route does, and logs one line. */
export function createHandler(dependencies: HandlerDependencies): Handler {
  const { config, directory, log, clock, onAnswered, tracing } = dependencies;
  const addressOf = addressReader(config, log);
  const isHeadTooLong = headLimit(config, log);
  const isKnownCaller = createKnownCaller(dependencies);
  const refusedOrigins = createRefusedOrigins({ log, clock });
  const routes = [
    ...apiRoutes(dependencies),
    channelFactsRoute({ ...dependencies, refusedOrigins }),
    ...(dependencies.extraRoutes ?? []),
  ];
  const findRoute = createFindRoute(routes.filter(dependencies.isServed ?? (() => true)));

  return async (request) => {
    const beganAt = clock.elapsed();
    const found = findRoute(request);
    const ids: Record<string, string> = {};
    const traceparent = traceparentOf(request);
    const slug = found.type === "found" ? found.params["slug"] : undefined;
    // A stranger's trace may not take in our spans, and its flags may not keep them from being recorded.
    const isTrusted = traceparent !== null && isKnownCaller(request, slug);
    const parent = isTrusted ? traceparent : null;
    const span = tracing ? spanOf(tracing, found, { parent, link: isTrusted ? null : traceparent }) : null;
    const outcome = isHeadTooLong(request)
      ? { answer: headTooLong(found) }
      : await run(found, request, { traceparent: span?.traceparent ?? parent, ids });
    const readable = isWidgetPath(request.path)
      ? withCors(outcome.answer, request, { directory, isForeign: outcome.error instanceof ForeignOrigin })
      : outcome.answer;
    const answer = asFastAsRead(readable, request);

    const route = found.type === "found" ? found.route.path : "none";
    const { status } = answer;
    const ms = clock.elapsed() - beganAt;
    span?.end(status);
    const origin = refusedOrigin(request, answer);
    if (origin !== null) refusedOrigins.note(origin, ids["slug"] ?? null);
    const line = {
      route,
      method: request.method.slice(0, 16),
      status,
      ms: Math.round(ms * 100) / 100,
      ...ids,
      ...(traceparent === null ? {} : { traceparent }),
      ...(span ? traceFields(span.traceparent) : {}),
      ...(config.logAddresses && REFUSED.has(status) ? { address: addressOf(request) } : {}),
      ...(origin === null ? {} : { origin: origin.slice(0, 200) }),
    };
    if (outcome.isFault) log.error({ ...line, err: outcome.error }, "cannot answer a request");
    else log.info(line, "answered");
    onAnswered?.({ route, status, ms });
    return answer;
  };
}

/** The W3C trace context of a request; null if absent or malformed, because it is passed on to other services. */
function traceparentOf(request: HttpRequest): string | null {
  const header = request.headers.get("traceparent") ?? "";
  return /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(header) ? header : null;
}

/** The span of a call of the API; null for health checks and files, which would hide everything else in the traces. */
function spanOf(
  tracing: Tracing,
  found: RouteMatch,
  context: { parent: string | null; link: string | null },
): RequestSpan | null {
  if (found.type !== "found") return null;
  const { method, path, documentation } = found.route;
  if (documentation === "hidden" || path === "/health") return null;
  return tracing.request({ method, route: path, ...context });
}

/** Statuses whose log line has the client's address, so that it can be blocked. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 429]);

/** The Origin that was refused, for the log; "none" if the request had none. null: the answer is no such refusal. */
function refusedOrigin({ path, headers }: HttpRequest, answer: HttpAnswer): string | null {
  const isForeign = answer.status === 403 && !("access-control-allow-origin" in answer.headers);
  return isWidgetPath(path) && isForeign ? (headers.get("origin") ?? "none") : null;
}

function headTooLong(found: RouteMatch): HttpAnswer {
  const api = found.type === "found" ? found.route.api : found.api;
  const text = api !== null && hasTexts(api) ? "The head of the request is too long" : "";
  return textAnswer(431, text, UNSTORED);
}

interface Outcome {
  answer: HttpAnswer;
  error?: unknown;
  /** True for a bug or an outage: the error is logged. */
  isFault?: boolean;
}

async function run(
  found: RouteMatch,
  request: HttpRequest,
  { traceparent, ids }: { traceparent: string | null; ids: Record<string, string> },
): Promise<Outcome> {
  switch (found.type) {
    case "none":
      return {
        answer:
          found.api === null ? unknownPath(request.path) : refusalAnswer(new Refusal("not-found"), found.api),
      };
    case "method": {
      const { api, allow } = found;
      const text = hasTexts(api) ? "Method not allowed" : "";
      return { answer: textAnswer(405, text, { ...UNSTORED, allow }) };
    }
    case "found": {
      const { route, params } = found;
      const incoming = {
        request,
        params,
        traceparent,
        note: (more: object) => void Object.assign(ids, more),
      };
      try {
        return { answer: await route.handle(incoming) };
      } catch (error) {
        return failed(error, route.api);
      }
    }
  }
}

/** The answer for an error of a route: a refusal by the table, an outage 503, a bug an empty 500. */
function failed(error: unknown, api: RouteApi): Outcome {
  if (error instanceof Refusal) {
    const answer = refusalAnswer(error, api);
    // The rest of a body over the limit is not read.
    return { answer: error.reason === "too-large" ? { ...answer, close: true } : answer, error };
  }
  // The client has left, so nobody reads this answer. Logs use status 499 for it.
  if (error instanceof RequestGone) return { answer: emptyAnswer(499), error };
  // A newer instance can read the record: the caller retries, and may reach one.
  if (error instanceof NewerRecord) {
    // A missing key is for the operator to add: the log names it.
    const isFault = error instanceof LockedRecord;
    return { answer: refusalAnswer(new Refusal("unavailable"), api), error, isFault };
  }
  if (error instanceof StoreUnavailable) {
    return { answer: refusalAnswer(new Refusal("unavailable"), api), error, isFault: true };
  }
  return { answer: emptyAnswer(500), error, isFault: true };
}

function isWidgetPath(path: string): boolean {
  return path.startsWith("/v1/widget/");
}
