import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { isRecord } from "../../is-record.ts";
import { OWN_FIELDS } from "../request/request-body.ts";
import { PACKAGE_PARTS } from "../way.ts";
import type {
  CallOptions,
  Fields,
  LanguageModel,
  Part,
  PromptMessage,
  ProviderOptions,
} from "./language-model.ts";

/** Settings that every provider has a name of its own for, by the name that the AI SDK has for them. */
const SETTINGS: Readonly<Record<string, string>> = {
  temperature: "temperature",
  top_p: "topP",
  topP: "topP",
  top_k: "topK",
  topK: "topK",
  stop: "stopSequences",
  stopSequences: "stopSequences",
  seed: "seed",
  presence_penalty: "presencePenalty",
  presencePenalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
  frequencyPenalty: "frequencyPenalty",
};

/** A request of a chat completion as a language model of the AI SDK takes it. */
export function callOptions(
  body: ChatCompletionCreateParamsStreaming,
  model: Pick<LanguageModel, "specificationVersion" | "provider">,
  sending: { signal: AbortSignal; traceparent: string | null },
): CallOptions {
  const { tools = [], max_completion_tokens: most = body.max_tokens } = body;
  const { settings, providerOptions } = settingsOf(body, model);
  return {
    ...settings,
    prompt: promptOf(body.messages, model.specificationVersion === "v4"),
    ...(tools.length === 0 ? {} : { tools: tools.flatMap(toolOf) }),
    ...(typeof most === "number" ? { maxOutputTokens: most } : {}),
    ...(Object.keys(providerOptions).length === 0 ? {} : { providerOptions }),
    ...(sending.traceparent === null ? {} : { headers: { traceparent: sending.traceparent } }),
    abortSignal: sending.signal,
  };
}

function toolOf(tool: NonNullable<ChatCompletionCreateParamsStreaming["tools"]>[number]) {
  if (tool.type !== "function") return [];
  const { name, description, parameters } = tool.function;
  return [
    {
      type: "function" as const,
      name,
      ...(description === undefined ? {} : { description }),
      inputSchema: parameters,
    },
  ];
}

/** What an owner wrote beside the settings is the provider's own, by its name or without. */
function settingsOf(
  body: ChatCompletionCreateParamsStreaming,
  { specificationVersion, provider }: Pick<LanguageModel, "specificationVersion" | "provider">,
): { settings: Fields; providerOptions: ProviderOptions } {
  const own = provider.split(".")[0] ?? provider;
  const settings: Fields = {};
  const providerOptions: ProviderOptions = {};
  const add = (to: string, fields: Fields) => (providerOptions[to] = { ...providerOptions[to], ...fields });
  for (const [name, value] of Object.entries(body)) {
    const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
    if (OWN_FIELDS.has(name) || name === "reasoning_effort") continue;
    if (setting === "stopSequences") settings[setting] = [value].flat();
    else if (setting !== undefined) settings[setting] = value;
    else if (isRecord(value)) add(name, value);
    else add(own, { [name]: value });
  }
  const { reasoning_effort: effort } = body;
  // The interface has had a name for it since its fourth version; before, most providers call it so themselves.
  if (effort && specificationVersion === "v4") settings["reasoning"] = effort;
  else if (effort) add(own, { reasoningEffort: effort });
  return { settings, providerOptions };
}

/** Some providers take system messages at the beginning alone: what is said later in one joins those. */
function promptOf(messages: readonly ChatCompletionMessageParam[], hasFileData: boolean): PromptMessage[] {
  const system = messages.flatMap(({ role, content }) =>
    (role === "system" || role === "developer") && typeof content === "string" ? [content] : [],
  );
  const names = new Map<string, string>();
  const prompt: PromptMessage[] =
    system.length === 0 ? [] : [{ role: "system", content: system.join("\n\n") }];
  for (const message of messages) {
    if (message.role === "user")
      prompt.push({ role: "user", content: userParts(message.content, hasFileData) });
    else if (message.role === "assistant") {
      for (const call of message.tool_calls ?? [])
        if (call.type === "function") names.set(call.id, call.function.name);
      const content = turnParts(message);
      if (content.length > 0) prompt.push({ role: "assistant", content });
    } else if (message.role === "tool") {
      const { tool_call_id: toolCallId, content } = message;
      const output = { type: "text", value: typeof content === "string" ? content : JSON.stringify(content) };
      const part = { type: "tool-result", toolCallId, toolName: names.get(toolCallId) ?? "", output };
      const last = prompt.at(-1);
      if (last?.role === "tool") last.content.push(part);
      else prompt.push({ role: "tool", content: [part] });
    }
  }
  return prompt;
}

function userParts(content: string | ChatCompletionContentPart[], hasFileData: boolean): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.flatMap((part): Part[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    return part.type === "image_url" ? [filePart(part.image_url.url, hasFileData)] : [];
  });
}

/** `data:MEDIA;base64,DATA`, or an address. */
function filePart(url: string, hasFileData: boolean): Part {
  const [, mediaType, data] = /^data:(image\/[a-z]+);base64,(.*)$/s.exec(url) ?? [];
  if (mediaType !== undefined && data !== undefined)
    return { type: "file", mediaType, data: hasFileData ? { type: "data", data } : data };
  const address = new URL(url);
  return { type: "file", mediaType: "image/*", data: hasFileData ? { type: "url", url: address } : address };
}

/** A turn of the model: its parts in the order in which they came, where it is still the one that they are of. */
function turnParts(message: Extract<ChatCompletionMessageParam, { role: "assistant" }>): Part[] {
  const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
  const text = typeof message.content === "string" ? message.content : "";
  const kept: unknown = Reflect.get(message, PACKAGE_PARTS);
  const parts: Part[] = [];
  let hasText = text === "";
  const made = new Set<string>();
  for (const part of Array.isArray(kept) ? kept.filter(isRecord) : []) {
    const options = isRecord(part["providerOptions"])
      ? { providerOptions: part["providerOptions"] as ProviderOptions }
      : {};
    const call = calls.find(({ id }) => id === part["toolCallId"] && !made.has(id));
    if (part["type"] === "reasoning")
      parts.push({
        type: "reasoning",
        text: typeof part["text"] === "string" ? part["text"] : "",
        ...options,
      });
    else if (part["type"] === "text" && !hasText) {
      hasText = true;
      parts.push({ type: "text", text, ...options });
    } else if (part["type"] === "tool-call" && call !== undefined) {
      made.add(call.id);
      parts.push({ ...callPart(call), ...options });
    }
  }
  if (!hasText) parts.push({ type: "text", text });
  for (const call of calls) if (!made.has(call.id)) parts.push(callPart(call));
  return parts.every(({ type }) => type === "reasoning") ? [] : parts;
}

function callPart({
  id,
  function: called,
}: {
  id: string;
  function: { name: string; arguments: string };
}): Part {
  return { type: "tool-call", toolCallId: id, toolName: called.name, input: inputOf(called.arguments) };
}

function inputOf(args: unknown): unknown {
  if (typeof args !== "string") return args;
  try {
    return args.trim() === "" ? {} : (JSON.parse(args) as unknown);
  } catch {
    return {};
  }
}
