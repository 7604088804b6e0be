import { TraceFlags } from "@opentelemetry/api";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace-base";

/** What became of spans that were to be exported. `dropped`: too many waited. */
export type SpansOutcome = "exported" | "failed" | "dropped";

export type OnSpans = (outcome: SpansOutcome, count: number) => void;

/** As the package's own `ExportResultCode` has it, of a package that is not asked for by itself. */
const SUCCESS = 0;

/**
 * Sends spans in batches, and counts what became of each: neither the package nor its exporter tells, and an exporter
 * that is down must be seen somewhere.
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
