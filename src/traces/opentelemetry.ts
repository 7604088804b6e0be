import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import type { Resource } from "@opentelemetry/resources";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from "@opentelemetry/semantic-conventions";
import type { TracingSettings } from "../config/tracing.ts";
import type { Tracing } from "../trace.ts";
import { chatSpan } from "./chat-span.ts";
import { countedProcessor } from "./counted-processor.ts";
import type { OnSpans } from "./counted-processor.ts";
import { createOpenSegments } from "./open-segments.ts";
import { requestSpan } from "./requests.ts";
import { pageToolSpan, toolSpan } from "./tools.ts";

/** Spans by OpenTelemetry's own packages, which read the other `OTEL_…` variables. Loaded only if traces are on. */
export interface OpenTracing extends Tracing {
  /** Sends the waiting spans, but waits no longer than CLOSE_MS. */
  close(): Promise<void>;
}

export interface TracingOptions {
  settings: TracingSettings;
  version: string;
  /** This instance's id. */
  processId: string;
  onSpans: OnSpans;
}

const SERVICE = "chat-agent-service";

/** A collector that is down must not hold up a stop. */
const CLOSE_MS = 2_000;

export async function openTracing(options: TracingOptions): Promise<OpenTracing> {
  const { settings, version, onSpans } = options;
  const exporter = await openExporter(settings.protocol);
  const provider = new BasicTracerProvider({
    resource: resourceOf(options),
    spanProcessors: [countedProcessor(exporter, { maxQueueSize: settings.maxQueueSize, onSpans })],
  });
  const tracer = provider.getTracer(SERVICE, version);
  const segments = createOpenSegments(tracer);
  const spans = { tracer, segments, hasContent: settings.capturesContent };
  return {
    request: (asked) => requestSpan(tracer, asked),
    segment: (active) => segments.open(active),
    chat: (call, ask) => chatSpan(spans, call, ask),
    tool: (call, use) => toolSpan(spans, call, use),
    pageTool: (call) => pageToolSpan(spans, call),
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
      // Spans that could not be sent are counted.
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      clearTimeout(timer);
    },
  };
}

async function openExporter(protocol: TracingSettings["protocol"]): Promise<SpanExporter> {
  switch (protocol) {
    case "http/protobuf": {
      const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
      return new OTLPTraceExporter();
    }
    case "http/json": {
      const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
      return new OTLPTraceExporter();
    }
  }
}

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override our own values. */
function resourceOf({ version, processId }: TracingOptions): Resource {
  const own = resourceFromAttributes({
    [ATTR_SERVICE_NAME]: SERVICE,
    [ATTR_SERVICE_VERSION]: version,
    "service.instance.id": processId,
  });
  return own.merge(detectResources({ detectors: [envDetector] }));
}
