import type { Extra } from "../../model.ts";
import type { CallPart, CompletionChunk } from "../reply/completion-chunk.ts";
import { toldUsage } from "../reply/told-usage.ts";
import { isRecord } from "../../is-record.ts";
import { RESPONSE_ITEMS } from "../way.ts";

type Fields = Record<string, unknown>;

const NOTHING: CompletionChunk = {
  text: "",
  calls: [],
  extra: null,
  finishReason: null,
  usage: null,
  hasNoChoice: false,
  error: undefined,
};

/** Why a response is incomplete, in the words of a chat completion. */
const INCOMPLETE: Readonly<Record<string, string>> = {
  max_output_tokens: "length",
  content_filter: "content_filter",
};

/**
 * Reads the events of one response as chunks of a chat completion. Events that it does not know say nothing; an answer
 * that was not streamed is read whole.
 */
export function createEventReader(): (json: unknown) => CompletionChunk {
  /** What an item has besides its text, its name and its arguments, in the order of the output. */
  const items: Extra[] = [];
  /** Calls whose arguments came piece by piece, by their place in the output. */
  const inPieces = new Set<unknown>();
  let hasCalls = false;
  let hasText = false;

  function callIn(item: Fields, index: unknown): CallPart {
    hasCalls = true;
    return part({ index, id: item["call_id"], name: item["name"], arguments: item["arguments"] });
  }

  function keep({ type, content: _content, status: _status, ...rest }: Fields): void {
    if (type === "reasoning" || type === "message") items.push({ type, ...rest });
    if (type !== "function_call") return;
    const { name: _name, arguments: _arguments, ...ofCall } = rest;
    items.push({ type, ...ofCall });
  }

  /** An item is over. Servers that send no pieces have all of it here. */
  function itemDone(item: Fields, index: unknown): CompletionChunk {
    keep(item);
    if (item["type"] !== "function_call" || inPieces.has(index)) return NOTHING;
    inPieces.add(index);
    return { ...NOTHING, calls: [callIn(item, index)] };
  }

  function end(response: Fields): CompletionChunk {
    const details = response["incomplete_details"];
    const reason = isRecord(details) ? textOf(details["reason"]) : "";
    const finishReason = INCOMPLETE[reason] ?? (reason === "" ? null : reason);
    return {
      ...NOTHING,
      usage: toldUsage(response, null, null),
      finishReason: finishReason ?? (hasCalls ? "tool_calls" : "stop"),
      // Only thoughts are of use later: without one, text and calls say all.
      extra: items.some(({ type }) => type === "reasoning") ? { [RESPONSE_ITEMS]: items } : null,
      isLast: true,
    };
  }

  function whole(response: Fields): CompletionChunk {
    const output = listIn(response["output"]);
    const texts = output.filter(({ type }) => type === "message").map(textOfMessage);
    const calls = output.flatMap((item, nth) =>
      item["type"] === "function_call" ? [callIn(item, nth)] : [],
    );
    output.forEach(keep);
    return { ...end(response), text: texts.join(""), calls };
  }

  return (json) => {
    const event = isRecord(json) ? json : {};
    const { type, output_index: index, delta, item, response } = event;
    switch (type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        hasText = true;
        return { ...NOTHING, text: textOf(delta) };
      case "response.output_item.added":
        if (!isRecord(item) || item["type"] !== "function_call") return NOTHING;
        return { ...NOTHING, calls: [callIn({ ...item, arguments: "" }, index)] };
      case "response.function_call_arguments.delta":
        inPieces.add(index);
        return { ...NOTHING, calls: [part({ index, arguments: delta })] };
      case "response.output_item.done":
        return isRecord(item) ? itemDone(item, index) : NOTHING;
      case "response.completed":
      case "response.incomplete":
        return isRecord(response) ? withLateText(end(response), response) : NOTHING;
      case "response.failed":
        return {
          ...NOTHING,
          error: (isRecord(response) ? response["error"] : null) ?? { code: "server_error" },
        };
      case "error":
        return { ...NOTHING, error: isRecord(event["error"]) ? event["error"] : event };
      default:
        if (event["object"] === "response") return failure(event) ?? whole(event);
        return event["error"] ? { ...NOTHING, error: event["error"] } : NOTHING;
    }
  };

  /** A gateway may send the end alone. */
  function withLateText(chunk: CompletionChunk, response: Fields): CompletionChunk {
    if (hasText || hasCalls || items.length > 0) return chunk;
    return whole(response);
  }

  function failure(response: Fields): CompletionChunk | null {
    return response["status"] === "failed" || isRecord(response["error"])
      ? { ...NOTHING, error: response["error"] ?? { code: "server_error" } }
      : null;
  }
}

function part({ index, id, name, arguments: args }: Fields): CallPart {
  return {
    index: typeof index === "number" ? index : null,
    id: textOf(id),
    name: textOf(name),
    arguments: textOf(args),
    extra: null,
  };
}

function textOfMessage(message: Fields): string {
  return listIn(message["content"])
    .map(({ type, text, refusal }) => textOf(type === "refusal" ? refusal : text))
    .join("");
}

function listIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
