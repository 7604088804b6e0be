import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { isRecord } from "../../is-record.ts";
import { RESPONSE_ITEMS } from "../way.ts";

type Fields = Record<string, unknown>;

/** A request of a chat completion as the Responses API takes it. */
export function responsesRequest(body: ChatCompletionCreateParamsStreaming): Fields {
  const {
    messages,
    tools,
    tool_choice,
    max_tokens,
    max_completion_tokens = max_tokens,
    reasoning_effort,
    response_format,
    verbosity,
    stream_options: _,
    ...others
  } = body;
  // What an owner wrote in the API's own form stays.
  const { reasoning, text, ...fields }: Fields = others;
  return {
    ...fields,
    input: messages.flatMap(itemsOf),
    ...(tools === undefined ? {} : { tools: tools.map(toolOf) }),
    ...(tool_choice === undefined ? {} : { tool_choice: choiceOf(tool_choice) }),
    ...(typeof max_completion_tokens === "number" ? { max_output_tokens: max_completion_tokens } : {}),
    ...joined("reasoning", reasoning, { effort: reasoning_effort }),
    ...joined("text", text, {
      format: response_format === undefined ? undefined : formatOf(response_format),
      verbosity,
    }),
  };
}

/** An object of this name with what is set; none where nothing is. */
function joined(name: string, written: unknown, set: Fields): Fields {
  const given = Object.entries(set).filter(([, value]) => value !== undefined && value !== null);
  const own = isRecord(written) ? written : {};
  const all = { ...own, ...Object.fromEntries(given) };
  return Object.keys(all).length === 0 ? {} : { [name]: all };
}

function toolOf(tool: unknown): unknown {
  // Strict by default here, which takes other schemas than pages and servers have.
  return isRecord(tool) && isRecord(tool["function"])
    ? { type: "function", ...tool["function"], strict: false }
    : tool;
}

function choiceOf(choice: unknown): unknown {
  return isRecord(choice) && isRecord(choice["function"])
    ? { type: "function", name: choice["function"]["name"] }
    : choice;
}

function formatOf(format: unknown): unknown {
  return isRecord(format) && isRecord(format["json_schema"])
    ? { type: "json_schema", ...format["json_schema"] }
    : format;
}

function itemsOf(message: ChatCompletionMessageParam): Fields[] {
  switch (message.role) {
    case "assistant":
      return turnOf(message);
    case "tool":
      return [{ type: "function_call_output", call_id: message.tool_call_id, output: message.content }];
    case "user":
      return [{ role: "user", content: contentOf(message.content) }];
    case "system":
    case "developer":
    case "function":
      return [{ role: message.role, content: message.content }];
  }
}

function contentOf(content: string | ChatCompletionContentPart[]): unknown {
  if (typeof content === "string") return content;
  return content.map((part) => {
    if (part.type === "text") return { type: "input_text", text: part.text };
    if (part.type === "image_url")
      return { type: "input_image", image_url: part.image_url.url, detail: "auto" };
    return part;
  });
}

/**
 * A turn of the model: its items in the order in which they came, where the model is still the one that they are of; else
 * its text and its calls.
 */
function turnOf(message: Extract<ChatCompletionMessageParam, { role: "assistant" }>): Fields[] {
  const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
  const text = typeof message.content === "string" ? message.content : "";
  const kept: unknown = Reflect.get(message, RESPONSE_ITEMS);
  const said = new Set<string>();
  const items: Fields[] = [];
  for (const item of Array.isArray(kept) ? kept.filter(isRecord) : []) {
    const { type, call_id: callId } = item;
    if (type === "reasoning") items.push(item);
    else if (type === "message" && text !== "" && !said.has("")) {
      said.add("");
      items.push({ ...item, role: "assistant", content: [{ type: "output_text", text, annotations: [] }] });
    } else if (type === "function_call") {
      const call = calls.find(({ id }) => id === callId);
      if (call === undefined || said.has(call.id)) continue;
      said.add(call.id);
      items.push({ ...item, ...calledBy(call) });
    }
  }
  if (text !== "" && !said.has("")) items.push({ role: "assistant", content: text });
  for (const call of calls) if (!said.has(call.id)) items.push({ type: "function_call", ...calledBy(call) });
  return withoutOrphans(items);
}

function calledBy({ id, function: called }: ChatCompletionMessageFunctionToolCall): Fields {
  const args: unknown = called.arguments;
  return {
    call_id: id,
    name: called.name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  };
}

/** The API refuses a thought without the item that followed it: https://github.com/openai/openai-python/issues/2561 */
function withoutOrphans(items: readonly Fields[]): Fields[] {
  const last = items.findLastIndex(({ type }) => type !== "reasoning");
  return items.slice(0, last + 1);
}
