import { SpanKind } from "@opentelemetry/api";
import type { Attributes, Tracer } from "@opentelemetry/api";
import {
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_GEN_AI_TOOL_TYPE,
} from "@opentelemetry/semantic-conventions/incubating";
import type { PageToolUse, ToolResult, ToolUse } from "../trace.ts";
import { argumentsContent, resultContent } from "./content.ts";
import { contextOf, traceparentOf } from "./contexts.ts";
import { errorType, fails } from "./failing.ts";
import type { OpenSegments } from "./open-segments.ts";

/** The error type of a tool's answer with `isError`. */
const TOOL_ERROR = "tool_error";

interface Spans {
  tracer: Tracer;
  segments: OpenSegments;
  hasContent: boolean;
}

/** The span of a server-side tool's call: `execute_tool NAME`. */
export async function toolSpan(
  { tracer, segments, hasContent }: Spans,
  { call, traceparent }: ToolUse,
  use: (traceparent: string) => Promise<ToolResult>,
): Promise<ToolResult> {
  const attributes: Attributes = {
    ...named(call, "extension", segments.conversationOf(traceparent)),
    ...(call.server === undefined ? {} : { "chat_agent.mcp.server": call.server }),
    ...(hasContent ? argumentsContent(call.arguments) : {}),
  };
  const span = tracer.startSpan(
    `execute_tool ${call.tool}`,
    { kind: SpanKind.INTERNAL, attributes },
    contextOf(traceparent),
  );
  try {
    const result = await use(traceparentOf(span.spanContext()));
    if (result.isError) fails(span, TOOL_ERROR);
    if (hasContent) span.setAttributes(resultContent(result.text));
    return result;
  } catch (error) {
    fails(span, errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

/**
 * The span of a page's tool call, until its result. It is created when the call is over: nothing of it is in memory while
 * the page works, and another instance may get the result.
 */
export function pageToolSpan({ tracer, hasContent }: Spans, call: PageToolUse): void {
  const { uid, traceparent, calledAtMs, endedAtMs, result, error } = call;
  const attributes: Attributes = {
    ...named(call, "function", uid),
    ...(hasContent ? argumentsContent(call.arguments) : {}),
    ...(hasContent && result ? resultContent(result.text) : {}),
  };
  const span = tracer.startSpan(
    `execute_tool ${call.tool}`,
    { kind: SpanKind.INTERNAL, startTime: calledAtMs, attributes },
    contextOf(traceparent),
  );
  if (error !== null) fails(span, error);
  else if (result?.isError) fails(span, TOOL_ERROR);
  span.end(Math.max(endedAtMs, calledAtMs));
}

/** `extension`: a server's tool; `function`: a tool of the client, which is the page. */
function named(
  { tool, callId }: { tool: string; callId: string },
  type: "extension" | "function",
  conversation: string | null,
): Attributes {
  return {
    [ATTR_GEN_AI_OPERATION_NAME]: "execute_tool",
    [ATTR_GEN_AI_TOOL_NAME]: tool,
    [ATTR_GEN_AI_TOOL_CALL_ID]: callId,
    [ATTR_GEN_AI_TOOL_TYPE]: type,
    ...(conversation === null ? {} : { [ATTR_GEN_AI_CONVERSATION_ID]: conversation }),
  };
}
