import { z } from "zod";
import { httpUrl, MOST, oneOf, whole } from "./kinds.ts";

/** What of `OTEL_…` is decided here; OpenTelemetry's packages read the rest themselves. */
export interface TracingSettings {
  protocol: (typeof TRACE_PROTOCOLS)[number];
  /** Spans carry what was said. */
  capturesContent: boolean;
  /** Ended spans that wait to be sent; more are dropped. */
  maxQueueSize: number;
}

const TRACE_PROTOCOLS = ["http/protobuf", "http/json"] as const;

export const tracingVariables = {
  OTEL_SDK_DISABLED: flag().default(false),
  OTEL_TRACES_EXPORTER: oneOf(["otlp", "none"]).default("otlp"),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl().nullable().default(null),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl().nullable().default(null),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(TRACE_PROTOCOLS).default("http/protobuf"),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: oneOf(TRACE_PROTOCOLS).nullable().default(null),
  OTEL_BSP_MAX_QUEUE_SIZE: whole(1, MOST).default(2_048),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag().default(false),
};

const tracingSchema = z.object(tracingVariables);

/** null: traces are off. */
export function tracingOf(value: z.infer<typeof tracingSchema>): TracingSettings | null {
  const endpoint = value.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? value.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === null || value.OTEL_SDK_DISABLED || value.OTEL_TRACES_EXPORTER === "none") return null;
  return {
    protocol: value.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? value.OTEL_EXPORTER_OTLP_PROTOCOL,
    capturesContent: value.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
    maxQueueSize: value.OTEL_BSP_MAX_QUEUE_SIZE,
  };
}

/** As OpenTelemetry reads its flags: what is not `true` is false. */
function flag() {
  return z.string().transform((text) => text.trim().toLowerCase() === "true");
}
