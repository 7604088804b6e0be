import { SpanKind } from "@opentelemetry/api";
import type { Tracer } from "@opentelemetry/api";
import {
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
} from "@opentelemetry/semantic-conventions";
import type { AskedRequest, RequestSpan } from "../trace.ts";
import { contextOf, linkTo, traceparentOf } from "./contexts.ts";
import { fails } from "./failing.ts";

/** The span of a request, to its answer's head. A path may contain anything, so the span has only the route's pattern. */
export function requestSpan(tracer: Tracer, { method, route, parent, link }: AskedRequest): RequestSpan {
  const attributes = { [ATTR_HTTP_REQUEST_METHOD]: method, [ATTR_HTTP_ROUTE]: route };
  const span = tracer.startSpan(
    `${method} ${route}`,
    { kind: SpanKind.SERVER, attributes, links: linkTo(link) },
    contextOf(parent),
  );
  return {
    traceparent: traceparentOf(span.spanContext()),
    end(status) {
      span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status);
      if (status >= 500) fails(span, String(status));
      span.end();
    },
  };
}
