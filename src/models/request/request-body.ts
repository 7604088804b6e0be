import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import type { ModelRequest, OfferedTool } from "../../model.ts";
import type { Quirks } from "../refusals/quirks.ts";
import { isRefused } from "../refusals/refused-tools.ts";
import { withoutKeywords } from "../refusals/schema-keywords.ts";
import { wireMessages } from "./wire-messages.ts";

export interface RequestTarget {
  /** PROVIDER/MODEL */
  by: string;
  /** The model's name at its server. */
  model: string;
  quirks: Quirks;
  /** Further fields of each request to this provider. */
  body: Record<string, unknown>;
  /** … and of its way; the settings win. */
  ofWay?: Readonly<Record<string, unknown>>;
}

/** Fields of a request that the service fills itself. */
export const OWN_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "tools",
  "max_tokens",
  "max_completion_tokens",
]);

/** A turn's request in the form that a server takes. */
export function requestBody(
  request: ModelRequest,
  { by, model, quirks, body, ofWay }: RequestTarget,
): ChatCompletionCreateParamsStreaming {
  const offered = quirks.tools ? request.tools.map((tool) => wireTool(tool, quirks)) : [];
  const tools = offered.filter((tool) => !isRefused(tool, quirks));
  const { maxOutputTokens } = request;
  const fields: Record<string, unknown> = { ...ofWay, ...body, ...request.body };
  if (quirks.effortNone && tools.length > 0) fields["reasoning_effort"] = "none";
  for (const name of quirks.leftOut) delete fields[name];
  return {
    ...fields,
    model,
    messages: wireMessages(request.messages, { by, quirks, offersTools: tools.length > 0 }),
    stream: true,
    ...(quirks.streamUsage ? { stream_options: { include_usage: true } } : {}),
    // Servers refuse an empty list of tools.
    ...(tools.length > 0 ? { tools } : {}),
    ...(maxOutputTokens === null || quirks.maxTokensField === null
      ? {}
      : { [quirks.maxTokensField]: maxOutputTokens }),
  };
}

function wireTool({ parameters, ...tool }: OfferedTool, { schemaKeywords }: Quirks) {
  return {
    type: "function" as const,
    function: { ...tool, parameters: withoutKeywords(parameters, schemaKeywords) },
  };
}
