import { TraceFlags } from "@opentelemetry/api";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace-base";

/** The outcome of an export of spans. `dropped`: too many were waiting. */
export type SpansOutcome = "exported" | "failed" | "dropped";

export type OnSpans = (outcome: SpansOutcome, count: number) => void;

/** The value of `ExportResultCode.SUCCESS`, whose package is not a direct dependency. */
const SUCCESS = 0;

/**
 * Sends spans in batches, and counts the outcomes: neither the package nor its exporter reports them, and a failing export
 * must be visible somewhere.
 */
export function countedProcessor(
  exporter: SpanExporter,
  { maxQueueSize, onSpans }: { maxQueueSize: number; onSpans: OnSpans },
): SpanProcessor {
  let waiting = 0;
  const counted: SpanExporter = {
    export(spans: ReadableSpan[], done) {
      waiting -= spans.length;
      exporter.export(spans, (result) => {
        onSpans(result.code === SUCCESS ? "exported" : "failed", spans.length);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  const batches = new BatchSpanProcessor(counted, { maxQueueSize });
  return {
    onStart: () => {},
    onEnd(span) {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
      if (waiting >= maxQueueSize) return onSpans("dropped", 1);
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}
