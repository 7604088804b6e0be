import { isTerminal } from "../../../machines/line.ts";
import type { DoneLine, ErrorLine, Line, Source, StepLine } from "../../../machines/line.ts";
import type { Translation } from "../stream/sse-answer.ts";

/**
 * Our lines as frames of the AI SDK's UI message stream v1, the same set for its versions 5, 6 and 7. A frame of a type
 * that version 5 does not know breaks the client, so none is used, but for a page that says that it takes approvals.
 *
 * A stream is one assistant message, or continues it: the message has the id of its run, so every stream of a run, the
 * next one after a page tool and a replay alike, is about the same message.
 */
export function uiFrames(
  runId: string,
  { asksApproval = false, decided = null }: { asksApproval?: boolean; decided?: Decided | null } = {},
): Translation {
  let texts = 0;
  let isOpen = false;
  /** The client has what came before the call that it has decided. */
  let isKnown = decided !== null;
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
      const isDecided = decided !== null && line.type === "step" && line.id === decided.stepId;
      if (isDecided) isKnown = false;
      if (isKnown && !isTerminal(line)) return [];
      // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- passes over what this protocol has no frame for
      switch (line.type) {
        case "delta":
          return written(line.text);
        case "step":
          return [
            ...closed(),
            stepPart(line),
            ...(line.sources ?? []).map(sourcePart),
            ...(asks(line) ? requestOf(line) : []),
            ...(isDecided ? outcomeOf(line, decided) : []),
          ];
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
    endsWith: asks,
    closing: "data: [DONE]\n\n",
  };

  function asks(line: Line): boolean {
    if (!asksApproval || line.type !== "step" || line.phase !== "running") return false;
    return line.approval?.by === "visitor" && line.approval.callId !== decided?.callId;
  }
}

/** A call whose approval a client's request has decided. */
export interface Decided {
  callId: string;
  stepId: string;
  approved: boolean;
}

/** As the call of a tool that runs elsewhere, which the client asks its visitor about. Its request goes on with the run. */
function requestOf({ id, approval }: StepLine): object[] {
  const { callId: toolCallId = "", tool: toolName, arguments: input } = approval ?? {};
  const elsewhere = { dynamic: true, providerExecuted: true };
  return [
    { type: "tool-input-available", toolCallId, toolName, input, ...elsewhere },
    { type: "tool-approval-request", approvalId: `${id}:${toolCallId}`, toolCallId },
    { type: "finish-step" },
    { type: "finish", finishReason: "tool-calls" },
  ];
}

/** Back from an approval's id; null: it is none of ours. */
export function approvalNamed(approvalId: string): { stepId: string; callId: string } | null {
  const at = approvalId.lastIndexOf(":");
  return at < 1 ? null : { stepId: approvalId.slice(0, at), callId: approvalId.slice(at + 1) };
}

/** What became of it. */
function outcomeOf({ phase, text }: StepLine, { callId: toolCallId, approved }: Decided): object[] {
  const elsewhere = { dynamic: true, providerExecuted: true };
  if (phase === "running") return [];
  if (phase === "done") return [{ type: "tool-output-available", toolCallId, output: text, ...elsewhere }];
  return approved
    ? [{ type: "tool-output-error", toolCallId, errorText: text, ...elsewhere }]
    : [{ type: "tool-output-denied", toolCallId }];
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
