import { z } from "zod";
import { nameMap } from "../../domain/name-map.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { PageTool } from "../../domain/channels/page-tool.ts";
import { catalogSchema } from "../../domain/channels/portable-schema.ts";
import { clientMessageId, contextMap, localeTag, pagePath, widgetThreadId } from "../fields.ts";
import { parseWith } from "../body.ts";
import { sentParts, textBeside } from "../files/sent-parts.ts";
import { approvalNamed } from "./ui-frames.ts";
import { pageTool, toolResultText } from "../widget-api/tools.ts";
import type { VisitorMessage } from "../widget-api/visitor-message.ts";

/** A request of the AI SDK's client, in the service's terms. */
export interface ChatRequest {
  threadId: string;
  said: SaidMessage | ToolOutput | Decision;
  /** The client asks the visitor for approval by frames of its own. */
  asksApproval: boolean;
  /** The page's new catalog; null: the client sends no tools. */
  tools: PageTool[] | null;
}

export interface SaidMessage {
  type: "message";
  message: VisitorMessage & { clientMessageId: string };
  /** The client asks for the reply again (regenerate), or an earlier message was edited. */
  isAgain: boolean;
}

/** Whether a call may be made that waited for the visitor. */
export interface Decision {
  type: "decision";
  callId: string;
  /** The call's step, which the client has. */
  stepId: string;
  approved: boolean;
}

export interface ToolOutput {
  type: "output";
  callId: string;
  tool: string;
  text: string;
  isError: boolean;
  page: string | null;
}

const sentMessage = z.looseObject({
  id: z.string(),
  role: z.enum(["user", "assistant"]),
  parts: z.array(z.looseObject({ type: z.string() })),
});

const sentTools = nameMap(
  z.string().min(1),
  z.object({
    description: pageTool.shape.description,
    parameters: z.looseObject({ type: z.literal("object") }).exactOptional(),
  }),
);

export const sentChat = z.object({
  id: widgetThreadId.describe("The thread's id, from POST /v1/widget/threads"),
  messages: z
    .array(z.unknown())
    .min(1)
    .describe(
      "Of these the last one counts: a user's, whose id is its clientMessageId, or the assistant's with the output of the tool that was called",
    ),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: z.string().nullish(),
  page: pagePath.optional().describe("The visitor's pathname and search"),
  customerContext: contextMap.optional().describe("As for POST /v1/widget/messages"),
  locale: localeTag.optional().describe("The page's language"),
  approvals: z
    .boolean()
    .optional()
    .describe(
      "true: calls that need the visitor's approval are asked for by tool-approval-request (AI SDK 6 and later)",
    ),
  tools: sentTools
    .optional()
    .describe(
      "The page's tools by name, as assistant-ui sends them; an empty object leaves them as they are",
    ),
});

export const chatBody = sentChat.transform((sent): ChatRequest => {
  const { id: threadId, messages, page, approvals = false, tools = {} } = sent;
  const last = parseWith(sentMessage, messages.at(-1));
  const said = last.role === "user" ? messageOf(last, sent) : answerOf(last, page ?? null);
  const catalog = Object.entries(tools).map(([name, { description, parameters }]) =>
    parseWith(pageTool, {
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { inputSchema: catalogSchema(parameters) }),
    }),
  );
  return { threadId, said, asksApproval: approvals, tools: catalog.length > 0 ? catalog : null };
});

type Sent = z.infer<typeof sentMessage>;

const textPart = z.looseObject({ type: z.literal("text"), text: z.string() });
const filePart = z.looseObject({
  type: z.literal("file"),
  url: z.string(),
  filename: z.string().nullish(),
});

function messageOf({ id, parts }: Sent, sent: z.infer<typeof sentChat>): SaidMessage {
  const { page, customerContext, locale, trigger, messageId } = sent;
  const texts = parts.filter(({ type }) => type === "text").map((part) => parseWith(textPart, part).text);
  const files = parts.filter(({ type }) => type === "file").map((part) => parseWith(filePart, part));
  const beside = sentParts(
    files.map(({ url, filename }) => ({ url, ...(filename == null ? {} : { name: filename }) })),
  );
  return {
    type: "message",
    message: {
      text: textBeside(texts.join("\n"), beside),
      clientMessageId: parseWith(clientMessageId, id),
      ...beside,
      page,
      customerContext,
      locale,
    },
    isAgain: trigger === "regenerate-message" || messageId === id,
  };
}

const toolPart = z.looseObject({
  type: z.string(),
  toolName: z.string().optional(),
  toolCallId: z.string(),
  state: z.string(),
  output: z.unknown().optional(),
  errorText: z.string().nullish(),
  approval: z.looseObject({ id: z.string(), approved: z.boolean().optional() }).nullish(),
  providerExecuted: z.boolean().nullish(),
});

/** Tools are called one at a time: the last output, or decision, in the message is the new one. */
function answerOf({ parts }: Sent, page: string | null): ToolOutput | Decision {
  const isTool = ({ type }: { type: string }) => type.startsWith("tool-") || type === "dynamic-tool";
  const answered = parts
    .filter(isTool)
    .map((part) => parseWith(toolPart, part))
    .findLast(
      ({ state, providerExecuted }) =>
        state === "approval-responded" || (state.startsWith("output-") && providerExecuted !== true),
    );
  if (!answered) throw new Refusal("invalid");
  if (answered.state === "approval-responded") {
    const named = approvalNamed(answered.approval?.id ?? "");
    if (!named) throw new Refusal("invalid");
    return { type: "decision", ...named, approved: answered.approval?.approved === true };
  }
  const { type, toolName, toolCallId: callId, state, output, errorText } = answered;
  const isError = state !== "output-available";
  return {
    type: "output",
    callId,
    tool: toolName ?? type.slice("tool-".length),
    text: toolResultText(isError ? (errorText ?? "The visitor declined") : output),
    isError,
    page,
  };
}
