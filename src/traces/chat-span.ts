import { SpanKind } from "@opentelemetry/api";
import type { Attributes, Tracer } from "@opentelemetry/api";
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MAX_TOKENS,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_REQUEST_STREAM,
  ATTR_GEN_AI_REQUEST_TEMPERATURE,
  ATTR_GEN_AI_RESPONSE_MODEL,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
  ATTR_GEN_AI_CONVERSATION_ID,
} from "@opentelemetry/semantic-conventions/incubating";
import type { ModelTurn } from "../model.ts";
import type { ChatCall } from "../trace.ts";
import { askedContent, answeredContent } from "./content.ts";
import { contextOf, traceparentOf } from "./contexts.ts";
import { errorType, fails } from "./failing.ts";
import { finishReasons } from "./finish-reasons.ts";
import { whoAnswered } from "./open-segments.ts";
import type { OpenSegments } from "./open-segments.ts";

/** Names of tools that the run has and the model was not offered. */
const TOOLS_LEFT_OUT = "chat_agent.tools.left_out";

/** The span of a request to a model, with its retries: `chat MODEL`. */
export async function chatSpan(
  { tracer, segments, hasContent }: { tracer: Tracer; segments: OpenSegments; hasContent: boolean },
  { provider, model, request }: ChatCall,
  ask: (traceparent: string) => Promise<ModelTurn>,
): Promise<ModelTurn> {
  const conversation = segments.conversationOf(request.traceparent);
  const { temperature } = request.body ?? {};
  const attributes: Attributes = {
    [ATTR_GEN_AI_OPERATION_NAME]: "chat",
    [ATTR_GEN_AI_PROVIDER_NAME]: provider,
    [ATTR_GEN_AI_REQUEST_MODEL]: model,
    [ATTR_GEN_AI_REQUEST_STREAM]: true,
    ...(conversation === null ? {} : { [ATTR_GEN_AI_CONVERSATION_ID]: conversation }),
    ...(request.maxOutputTokens === null
      ? {}
      : { [ATTR_GEN_AI_REQUEST_MAX_TOKENS]: request.maxOutputTokens }),
    ...(typeof temperature === "number" ? { [ATTR_GEN_AI_REQUEST_TEMPERATURE]: temperature } : {}),
    ...(hasContent ? askedContent(request) : {}),
  };
  const span = tracer.startSpan(
    `chat ${model}`,
    { kind: SpanKind.CLIENT, attributes },
    contextOf(request.traceparent),
  );
  try {
    const turn = await ask(traceparentOf(span.spanContext()));
    span.setAttributes({ ...told(turn), ...(hasContent ? answeredContent(turn) : {}) });
    segments.answered(request.traceparent, turn);
    return turn;
  } catch (error) {
    fails(span, errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

function told(turn: ModelTurn): Attributes {
  const { usage, finishReason, leftOutTools } = turn;
  return {
    ...(leftOutTools ? { [TOOLS_LEFT_OUT]: [...leftOutTools] } : {}),
    [ATTR_GEN_AI_RESPONSE_MODEL]: whoAnswered(turn).model,
    ...finishReasons(finishReason),
    ...(usage
      ? {
          [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: usage.input,
          [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: usage.output,
        }
      : {}),
  };
}
