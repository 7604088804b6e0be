import { SpanKind } from "@opentelemetry/api";
import type { Span, Tracer } from "@opentelemetry/api";
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_RESPONSE_MODEL,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
} from "@opentelemetry/semantic-conventions/incubating";
import type { ModelTurn } from "../model.ts";
import type { Segment, SegmentStart } from "../trace.ts";
import { contextOf, linkTo, spanIdOf, traceparentOf } from "./contexts.ts";
import { fails } from "./failing.ts";
import { finishReasons } from "./finish-reasons.ts";

/**
 * The `invoke_agent` spans of the segments that are active in this process. Model calls and tools know only their segment's
 * traceparent: they look up their conversation here, and their tokens are added to the segment.
 */
export interface OpenSegments {
  open(active: SegmentStart): Segment;
  /** Our id of the thread; null if no such segment is active here. */
  conversationOf(traceparent: string | null): string | null;
  answered(traceparent: string | null, turn: ModelTurn): void;
}

interface Active {
  uid: string;
  input: number;
  output: number;
  last: ModelTurn | null;
}

export function createOpenSegments(tracer: Tracer): OpenSegments {
  const active = new Map<string, Active>();

  return {
    open({ uid, slug, runId, parent, after }) {
      const attributes = {
        [ATTR_GEN_AI_OPERATION_NAME]: "invoke_agent",
        [ATTR_GEN_AI_AGENT_NAME]: slug,
        [ATTR_GEN_AI_CONVERSATION_ID]: uid,
        "chat_agent.run.id": runId,
      };
      const span = tracer.startSpan(
        "invoke_agent",
        { kind: SpanKind.INTERNAL, attributes, links: linkTo(after) },
        contextOf(parent),
      );
      const { spanId } = span.spanContext();
      return {
        traceparent: traceparentOf(span.spanContext()),
        begin: () => void active.set(spanId, { uid, input: 0, output: 0, last: null }),
        end({ end, error }) {
          const used = active.get(spanId);
          active.delete(spanId);
          if (used) noteUse(span, used);
          span.setAttribute("chat_agent.segment.end", end);
          if (error !== null) fails(span, error);
          span.end();
        },
      };
    },

    conversationOf: (traceparent) => active.get(spanIdOf(traceparent))?.uid ?? null,

    answered(traceparent, turn) {
      const segment = active.get(spanIdOf(traceparent));
      if (!segment) return;
      segment.input += turn.usage?.input ?? 0;
      segment.output += turn.usage?.output ?? 0;
      segment.last = turn;
    },
  };
}

function noteUse(span: Span, { input, output, last }: Active): void {
  if (!last) return;
  const { provider, model } = whoAnswered(last);
  span.setAttributes({
    [ATTR_GEN_AI_PROVIDER_NAME]: provider,
    [ATTR_GEN_AI_RESPONSE_MODEL]: model,
    [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: input,
    [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: output,
    ...finishReasons(last.finishReason),
  });
}

/** Splits PROVIDER/MODEL at the first slash: a model's name may have slashes of its own. */
export function whoAnswered({ by }: Pick<ModelTurn, "by">): { provider: string; model: string } {
  const at = by.indexOf("/");
  return { provider: by.slice(0, at), model: by.slice(at + 1) };
}
