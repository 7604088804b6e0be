import { isSpanContextValid, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import type { Context, Link, SpanContext } from "@opentelemetry/api";

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

export function contextOf(traceparent: string | null): Context {
  const parent = spanContextOf(traceparent);
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

export function linkTo(traceparent: string | null): Link[] {
  const context = spanContextOf(traceparent);
  return context === null ? [] : [{ context }];
}

/** The span's id, by which children find their segment; "" if the traceparent is missing or malformed. */
export function spanIdOf(traceparent: string | null): string {
  return spanContextOf(traceparent)?.spanId ?? "";
}

/** null if the traceparent is missing or malformed. */
function spanContextOf(traceparent: string | null): SpanContext | null {
  const [, traceId, spanId, flags] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? context : null;
}
