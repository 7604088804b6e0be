import { z } from "zod";
import type { PageTool } from "../../domain/channels/page-tool.ts";
import { catalogSchema } from "../../domain/channels/portable-schema.ts";
import { Refusal } from "../../domain/refusal.ts";
import { atMost, clientMessageId, localeTag, pagePath, widgetThreadId } from "../fields.ts";
import { parseWith } from "../body.ts";
import { sentParts, textBeside } from "../files/sent-parts.ts";
import { pageTool, toolResultText } from "../widget-api/tools.ts";
import type { VisitorMessage } from "../widget-api/visitor-message.ts";

/** AG-UI's RunAgentInput, in the service's terms. */
export interface RunInput {
  threadId: string;
  /** The client's own id of this request: sent back to it, and used for nothing else. */
  runId: string;
  /** It announces 1.0 or later, so it knows events that break an older client. */
  isNewProtocol: boolean;
  said: SaidMessage | ToolOutput;
  /** Of a call that waited for the visitor's approval; null: the request decides none. */
  decision: { callId: string; approved: boolean } | null;
  /** The page's catalog; null: none was sent. */
  tools: PageTool[] | null;
  /**
   * The client's messages up to the one that counts, if it has others after that one: the reply was begun before, and
   * the client's part of it is sent again. Otherwise null.
   */
  upToSaid: readonly unknown[] | null;
  /** The ids of the client's messages: the reply may use none of them. */
  knownIds: ReadonlySet<string>;
}

export interface SaidMessage {
  type: "message";
  message: VisitorMessage & { clientMessageId: string };
  /** It is to be answered anew, or an earlier message of its id was edited. */
  isAgain: boolean;
}

export interface ToolOutput {
  type: "output";
  callId: string;
  text: string;
  isError: boolean;
  page: string | null;
}

const thread = {
  threadId: widgetThreadId.describe("The thread's id, from POST /v1/widget/threads"),
  runId: z.string().min(1).describe("The client's own, told back to it"),
  protocolVersion: z
    .string()
    .nullish()
    .describe("1.0 and later are also told what would end an older client"),
};

const sentTool = z.object({
  name: z.string().min(1),
  description: z.string().nullish(),
  parameters: z.unknown().optional().describe("JSON Schema of an object"),
});

export const sentRun = z.object({
  ...thread,
  messages: z
    .array(z.unknown())
    .min(1)
    .describe(
      "Of these the last one that is a user's or a tool's counts: a user's id is its clientMessageId, a tool's answers the call",
    ),
  tools: z
    .array(sentTool)
    .nullish()
    .describe("The page's catalog from now on; an empty list clears it, without it it stays"),
  context: z
    .array(z.object({ description: z.string(), value: z.string() }))
    .nullish()
    .describe("As customerContext of POST /v1/widget/messages, by description"),
  resume: z
    .array(
      z.object({
        interruptId: atMost(256),
        status: z.enum(["resolved", "cancelled"]),
        payload: z.object({ approved: z.boolean().optional() }).nullish().catch(null),
      }),
    )
    .max(8)
    .nullish()
    .describe("An answer to the interrupt that asked for approval: its payload is { approved }"),
  forwardedProps: z
    .unknown()
    .optional()
    .describe(
      "Of these page and locale are taken, as for POST /v1/widget/messages, and regenerate: true has the message answered anew",
    ),
});

/** The same from a client that says nothing: it asks for what it has missed. */
export const sentConnect = z.object(thread);

export type ConnectInput = z.infer<typeof sentConnect>;

export function isNewProtocol(version: string | null | undefined): boolean {
  return Number.parseFloat(version ?? "0") >= 1;
}

export const runInput = sentRun.transform((sent): RunInput => {
  const { threadId, runId, protocolVersion, messages, tools } = sent;
  const at = messages.findLastIndex((message) => ["user", "tool"].includes(textIn(message, "role") ?? ""));
  const last = messages[at];
  if (last === undefined) throw new Refusal("invalid", "No message of a user or a tool");
  return {
    threadId,
    runId,
    isNewProtocol: isNewProtocol(protocolVersion),
    said: textIn(last, "role") === "user" ? messageOf(last, sent) : outputOf(last, sent),
    decision: decisionIn(sent),
    tools: tools ? tools.map(toolOf) : null,
    upToSaid: at < messages.length - 1 ? messages.slice(0, at + 1) : null,
    knownIds: new Set(messages.flatMap((message) => textIn(message, "id") ?? [])),
  };
});

type Sent = z.infer<typeof sentRun>;

/** Whoever cancels an interrupt does not approve. */
function decisionIn({ resume }: Sent): RunInput["decision"] {
  const [answer] = resume ?? [];
  if (!answer) return null;
  const { interruptId: callId, status, payload } = answer;
  return { callId, approved: status === "resolved" && payload?.approved === true };
}

const source = z.discriminatedUnion("type", [
  z.object({ type: z.literal("data"), value: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal("url"), value: z.string() }),
]);

const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.enum(["image", "audio", "video", "document"]), source }),
  z.object({
    type: z.literal("binary"),
    mimeType: z.string(),
    url: z.string().nullish(),
    data: z.string().nullish(),
    filename: z.string().nullish(),
  }),
]);

const userMessage = z.object({ id: clientMessageId, content: z.union([z.string(), z.array(part)]) });

function messageOf(sentAs: unknown, { context, forwardedProps }: Sent): SaidMessage {
  const { id, content } = parseWith(userMessage, sentAs);
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const texts = parts.flatMap((one) => (one.type === "text" ? [one.text] : []));
  const beside = sentParts(parts.flatMap((one) => (one.type === "text" ? [] : [partOf(one)])));
  const facts = (context ?? []).map(({ description, value }) => [description, value] as const);
  return {
    type: "message",
    isAgain: propOf(forwardedProps, "regenerate") === true,
    message: {
      text: textBeside(texts.join("\n"), beside),
      clientMessageId: id,
      ...beside,
      page: givenProp(forwardedProps, "page", pagePath),
      locale: givenProp(forwardedProps, "locale", localeTag),
      customerContext: facts.length > 0 ? Object.fromEntries(facts) : undefined,
    },
  };
}

function partOf(one: Exclude<z.infer<typeof part>, { type: "text" }>) {
  if (one.type !== "binary") {
    const { source: from } = one;
    return { url: from.type === "url" ? from.value : `data:${from.mimeType};base64,${from.value}` };
  }
  const { url, data, mimeType, filename } = one;
  return {
    url: url ?? `data:${mimeType};base64,${data ?? ""}`,
    ...(filename == null ? {} : { name: filename }),
  };
}

/** A page may give its own properties any name: a value of another form is not meant for the service. */
function givenProp(props: unknown, name: string, schema: z.ZodType<string>): string | undefined {
  const parsed = schema.safeParse(propOf(props, name));
  return parsed.success ? parsed.data : undefined;
}

function propOf(props: unknown, name: string): unknown {
  if (typeof props !== "object" || props === null) return undefined;
  return new Map<string, unknown>(Object.entries(props)).get(name);
}

const toolMessage = z.object({
  toolCallId: z.string(),
  content: z.union([z.string(), z.array(z.unknown())]),
  error: z.string().nullish(),
});

function outputOf(sentAs: unknown, { forwardedProps }: Sent): ToolOutput {
  const { toolCallId: callId, content, error } = parseWith(toolMessage, sentAs);
  const told = error != null && content.length === 0 ? error : content;
  return {
    type: "output",
    callId,
    text: toolResultText(typeof told === "string" ? told : { content: told }),
    isError: error != null,
    page: givenProp(forwardedProps, "page", pagePath) ?? null,
  };
}

function toolOf({ name, description, parameters }: z.infer<typeof sentTool>): PageTool {
  // A schema without a type means an object: nothing else can be called with named arguments.
  const inputSchema = catalogSchema(parameters);
  return parseWith(pageTool, {
    name,
    ...(description == null ? {} : { description }),
    ...(inputSchema == null ? {} : { inputSchema }),
  });
}

/** Checked by hand: a body may hold tens of thousands of messages, and only one is parsed. */
function textIn(message: unknown, name: "id" | "role"): string | null {
  if (typeof message !== "object" || message === null) return null;
  const value: unknown = Reflect.get(message, name);
  return typeof value === "string" ? value : null;
}
