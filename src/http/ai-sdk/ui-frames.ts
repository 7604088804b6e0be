import type { DoneLine, ErrorLine, Line, Source, StepLine } from "../../../machines/line.ts";
import type { Translation } from "../stream/sse-answer.ts";

/**
 * Our lines as frames of the AI SDK's UI message stream v1, the same set for its versions 5, 6 and 7. A frame of a type
 * that version 5 does not know breaks the client, so none is used.
 *
 * A stream is one assistant message, or continues it: the message has the id of its run, so every stream of a run, the
 * next one after a page tool and a replay alike, is about the same message.
 */
export function uiFrames(runId: string): Translation {
  let texts = 0;
  let isOpen = false;
  const textId = () => `text-${texts}`;

  function closed(): object[] {
    if (!isOpen) return [];
    isOpen = false;
    return [{ type: "text-end", id: textId() }];
  }

  function written(delta: string): object[] {
    const frame = { type: "text-delta", delta };
    if (isOpen) return [{ ...frame, id: textId() }];
    isOpen = true;
    texts++;
    return [
      { type: "text-start", id: textId() },
      { ...frame, id: textId() },
    ];
  }

  return {
    headers: { "x-vercel-ai-ui-message-stream": "v1" },
    // Also begins a step when it continues a message: otherwise the client takes the tool of the previous step for the
    // latest event, and posts its output again, forever.
    opening: [{ type: "start", messageId: runId }, { type: "start-step" }],
    eventsOf(line: Line) {
      // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- passes over what this protocol has no frame for
      switch (line.type) {
        case "delta":
          return written(line.text);
        case "step":
          return [...closed(), stepPart(line), ...(line.sources ?? []).map(sourcePart)];
        case "tool_call": {
          const { callId: toolCallId, tool: toolName, arguments: input } = line;
          const call = { type: "tool-input-available", toolCallId, toolName, input };
          return [...closed(), call, { type: "finish-step" }, { type: "finish", finishReason: "tool-calls" }];
        }
        case "done":
          return [...closed(), { type: "finish-step" }, finish(line)];
        case "error":
          return [...closed(), ...failure(line)];
        default:
          return [];
      }
    },
    closing: "data: [DONE]\n\n",
  };
}

/** Progress only: servers' tools are not shown as tools, so no client runs one of them. */
export function stepPart({ id, phase, text, approval }: Omit<StepLine, "type">) {
  return { type: "data-step", id, data: { id, phase, text, ...(approval ? { approval } : {}) } };
}

/** A document that the reply rests on: of the web, or a file of the site's owner. */
export function sourcePart({ title, url }: Source) {
  if (/^https?:/i.test(url)) return { type: "source-url", sourceId: url, url, title };
  const ending = url.slice(url.lastIndexOf(".") + 1).toLowerCase();
  const mediaType = MEDIA_TYPES.get(ending) ?? "application/octet-stream";
  return { type: "source-document", sourceId: url, mediaType, title, filename: url };
}

/** By a file's ending: what documents are read (knowledge/read/kinds.ts). */
const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ["md", "text/markdown"],
  ["markdown", "text/markdown"],
  ["txt", "text/plain"],
  ["html", "text/html"],
  ["htm", "text/html"],
  ["pdf", "application/pdf"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
]);

const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ["length", "length"],
  ["content_filter", "content-filter"],
]);

function finish({ type: _, finishReason, ...facts }: DoneLine): object {
  const reason = finishReason === undefined ? "stop" : (FINISH_REASONS.get(finishReason) ?? "other");
  return { type: "finish", finishReason: reason, messageMetadata: facts };
}

/** A client reads only the text of an error; the code is in the message's metadata. */
function failure({ type: _, ...error }: ErrorLine): object[] {
  const told = { type: "message-metadata", messageMetadata: { error } };
  if (error.code === "cancelled") return [told, { type: "finish-step" }, { type: "abort" }];
  return [told, { type: "error", errorText: error.message }];
}
