import type { Attributes } from "@opentelemetry/api";
import {
  ATTR_GEN_AI_INPUT_MESSAGES,
  ATTR_GEN_AI_OUTPUT_MESSAGES,
  ATTR_GEN_AI_SYSTEM_INSTRUCTIONS,
  ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
  ATTR_GEN_AI_TOOL_CALL_RESULT,
} from "@opentelemetry/semantic-conventions/incubating";
import type { ModelCall, ModelMessage, ModelRequest, ModelTurn } from "../model.ts";

/**
 * The messages, only for OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: as JSON, in the form of the semantic
 * conventions. Images are left out: they are too large for an attribute.
 */
export function askedContent({ messages }: ModelRequest): Attributes {
  const system = messages.filter(({ role }) => role === "system");
  const others = messages.filter(({ role }) => role !== "system");
  return {
    [ATTR_GEN_AI_SYSTEM_INSTRUCTIONS]: JSON.stringify(system.flatMap(({ content }) => textPart(content))),
    [ATTR_GEN_AI_INPUT_MESSAGES]: JSON.stringify(others.map(toldMessage)),
  };
}

export function answeredContent({ text, calls, finishReason }: ModelTurn): Attributes {
  const said = {
    role: "assistant",
    parts: [...textPart(text), ...calls.map(callPart)],
    finish_reason: finishReason ?? "unknown",
  };
  return { [ATTR_GEN_AI_OUTPUT_MESSAGES]: JSON.stringify([said]) };
}

export function argumentsContent(args: Record<string, unknown>): Attributes {
  return { [ATTR_GEN_AI_TOOL_CALL_ARGUMENTS]: JSON.stringify(args) };
}

export function resultContent(text: string): Attributes {
  return { [ATTR_GEN_AI_TOOL_CALL_RESULT]: text };
}

function toldMessage(message: ModelMessage): object {
  switch (message.role) {
    case "tool":
      return {
        role: "tool",
        parts: [{ type: "tool_call_response", id: message.callId, response: message.content }],
      };
    case "assistant":
      return {
        role: "assistant",
        parts: [...textPart(message.content), ...message.calls.map(callPart)],
      };
    case "system":
    case "user":
      return { role: message.role, parts: textPart(message.content) };
  }
}

function textPart(content: string): object[] {
  return content === "" ? [] : [{ type: "text", content }];
}

function callPart({ callId, name, arguments: text }: ModelCall): object {
  return { type: "tool_call", id: callId, name, arguments: text };
}
