import { SpanStatusCode } from "@opentelemetry/api";
import type { Span } from "@opentelemetry/api";
import { ATTR_ERROR_TYPE } from "@opentelemetry/semantic-conventions";

/** Marks a span as failed, with only a code or a class: a message may quote a user. */
export function fails(span: Span, type: string): void {
  span.setAttribute(ATTR_ERROR_TYPE, type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The kind of error: its code, such as ECONNREFUSED, or its class. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return "_OTHER";
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  return error.name;
}
