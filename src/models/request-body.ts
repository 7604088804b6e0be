import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { ModelMessage, ModelRequest } from "../model.ts";

/** A turn's request as the chat completions API takes it. */
export function requestBody(request: ModelRequest): ChatCompletionCreateParamsStreaming {
  const { model, messages, tools, maxOutputTokens } = request;
  return {
    model,
    messages: messages.map(wireMessage),
    stream: true,
    stream_options: { include_usage: true },
    // An empty list of tools is refused.
    ...(tools.length > 0
      ? { tools: tools.map((tool) => ({ type: "function", function: { ...tool } })) }
      : {}),
    ...(maxOutputTokens === null ? {} : { max_completion_tokens: maxOutputTokens }),
  };
}

function wireMessage(message: ModelMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.content };
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: message.content };
    case "assistant":
      if (message.calls.length === 0) return { role: "assistant", content: message.content };
      return {
        role: "assistant",
        // Null, not empty: some servers refuse an empty text.
        content: message.content || null,
        tool_calls: message.calls.map(({ callId, name, arguments: args }) => ({
          id: callId,
          type: "function",
          function: { name, arguments: args },
        })),
      };
  }
}
