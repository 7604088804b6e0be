import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { OWN_FIELDS } from "../request/request-body.ts";
import type { MaxTokensField, Quirks } from "./quirks.ts";
import { withRefused } from "./refused-tools.ts";
import { withoutKeywords } from "./schema-keywords.ts";

/** One step of what a server does not take; null if it changes nothing, because the request had nothing of the kind. */
export type Step = (quirks: Quirks) => Quirks | null;

type Body = ChatCompletionCreateParamsStreaming;

export function first(...steps: Step[]): Step {
  return (quirks) => {
    for (const step of steps) {
      const after = step(quirks);
      if (after) return after;
    }
    return null;
  };
}

export function noTools({ tools }: Body): Step {
  return (quirks) => (tools && quirks.tools ? { ...quirks, tools: false } : null);
}

export function noImages(body: Body): Step {
  return (quirks) => (quirks.images && hasImages(body) ? { ...quirks, images: false } : null);
}

export function noSystemRole(body: Body): Step {
  return (quirks) => (quirks.systemRole && has(body, "system") ? { ...quirks, systemRole: false } : null);
}

export function noToolRole(body: Body): Step {
  return (quirks) => (quirks.tools && has(body, "tool") ? { ...quirks, tools: false } : null);
}

export function noStreamUsage({ stream_options }: Body): Step {
  return (quirks) => (stream_options && quirks.streamUsage ? { ...quirks, streamUsage: false } : null);
}

export function otherMaxTokens(sent: MaxTokensField, body: Body): Step {
  const other: MaxTokensField = sent === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  return (quirks) => {
    if (quirks.maxTokensField !== sent || body[sent] === undefined) return null;
    const leftOut = [...quirks.leftOut, sent];
    return { ...quirks, leftOut, maxTokensField: leftOut.includes(other) ? null : other };
  };
}

export function objectArguments(body: Body): Step {
  return (quirks) =>
    !quirks.objectArguments && spokenWithCalls(body).length > 0 ? { ...quirks, objectArguments: true } : null;
}

export function noContent(body: Body): Step {
  const hasNone = spokenWithCalls(body).some(({ content }) => !content);
  return (quirks) =>
    !hasNone || quirks.noContent === "absent"
      ? null
      : { ...quirks, noContent: quirks.noContent === "null" ? "empty" : "absent" };
}

const EFFORT = "reasoning_effort";

/** OpenAI's reasoning models take tools only with an effort that says `none`, which is not their default. */
export function effortNone({ tools }: Body): Step {
  return (quirks) => {
    if (!tools || quirks.effortNone) return null;
    const { leftOut } = quirks;
    const isLeftOut = leftOut.includes(EFFORT);
    return {
      ...quirks,
      effortNone: true,
      leftOut: isLeftOut ? leftOut.filter((name) => name !== EFFORT) : leftOut,
    };
  };
}

export function leaveOut(names: readonly string[]): Step {
  return (quirks) => {
    const further = names.filter((name) => !quirks.leftOut.includes(name));
    return further.length === 0 ? null : { ...quirks, leftOut: [...quirks.leftOut, ...further] };
  };
}

export function refuse(tools: readonly NonNullable<Body["tools"]>[number][]): Step {
  return (quirks) => {
    const refusedTools = withRefused(quirks.refusedTools, tools);
    return refusedTools === quirks.refusedTools ? null : { ...quirks, refusedTools };
  };
}

function has({ messages }: Body, role: ChatCompletionMessageParam["role"]): boolean {
  return messages.some((message) => message.role === role);
}

/** Does a request contain images? */
export function hasImages({ messages }: Body): boolean {
  return messages.some(({ role, content }) => role === "user" && Array.isArray(content));
}

function spokenWithCalls({ messages }: Body) {
  return messages.flatMap((message) => (message.role === "assistant" && message.tool_calls ? [message] : []));
}

export function hasKeyword({ tools = [] }: Body, keyword: string): boolean {
  return tools.some((tool) => {
    const { parameters = {} } = tool.type === "function" ? tool.function : {};
    return JSON.stringify(withoutKeywords(parameters, [keyword])) !== JSON.stringify(parameters);
  });
}

const MESSAGE_FIELDS = new Set(["role", "content", "tool_calls", "tool_call_id"]);
const CALL_FIELDS = new Set(["id", "type", "function"]);

/** Fields that came from a server or from settings. */
export function furtherFields(body: Body): string[] {
  const ofMessages = body.messages.flatMap((message) => Object.keys(message));
  const ofCalls = spokenWithCalls(body).flatMap(({ tool_calls = [] }) =>
    tool_calls.flatMap((call) => Object.keys(call)),
  );
  const names = [
    ...Object.keys(body).filter((name) => !OWN_FIELDS.has(name)),
    ...ofMessages.filter((name) => !MESSAGE_FIELDS.has(name)),
    ...ofCalls.filter((name) => !CALL_FIELDS.has(name)),
  ];
  return [...new Set(names)];
}
