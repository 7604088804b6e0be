import { PROGRESS, parseArguments } from "../agent/tools/arguments.ts";
import { wasRefused } from "../agent/tools/calls.ts";
import { isAllowedName, safeName } from "../agent/tools/names.ts";
import { TASK_FAILED } from "../agent/tools/tools.ts";
import type { ServerTool } from "../agent/tools/tools.ts";
import type { Usage } from "../../machines/run.ts";
import { attributesField } from "../domain/people/attributes.ts";
import type { AgentSettings } from "../domain/channels/channel.ts";
import type { Api, Catalog, Message, PastCall, Speaker } from "../domain/threads/message.ts";
import type { RecordedCall, RecordedExchange, ReplayCase, Visitor } from "./case.ts";

/** A conversation as the store has it. */
export interface StoredConversation {
  slug: string;
  uid: string;
  agent: AgentSettings;
  /** The page's current tools. */
  catalog: Catalog;
  /** The current tools of the channel's MCP servers. */
  serverTools: readonly ServerTool[];
  /** Oldest first. */
  messages: readonly SaidMessage[];
  api: Api;
  /** The last run's speaker; the store does not know those of earlier runs. */
  speaker: Speaker | null;
  /** By run. */
  usage: ReadonlyMap<string, Usage>;
}

/** A message with the addresses of its attachments, in order; null for a lost one. */
export interface SaidMessage extends Message {
  addresses?: (string | null)[];
}

/** How much of a call's arguments and result the store keeps (domain/threads/past-run.ts). */
const CUT_CHARS = 400;

/** Makes a case of a stored conversation; `notes` tell people what the store did not know. */
export function caseOfThread(thread: StoredConversation): { recorded: ReplayCase; notes: string[] } {
  const { slug, uid, api, speaker, catalog, serverTools } = thread;
  const { mcpServers: _, ...agent } = thread.agent;
  const exchanges = exchangesOf(thread);
  const known = new Set([...serverTools, ...catalog].flatMap(({ name }) => [name, offeredName(name)]));
  const unknown = [...new Set(exchanges.flatMap(({ calls }) => calls.map(({ tool }) => tool)))].filter(
    (tool) => !known.has(tool) && !serverTools.some(({ server, name }) => `${server}_${name}` === tool),
  );
  const recorded: ReplayCase = {
    name: `${slug} ${uid}`,
    channel: slug,
    api,
    agent,
    ...visitorIn(speaker),
    tools: [
      ...serverTools.map(({ server, name, title, description, inputSchema }) => ({
        name,
        server,
        ...(title === null ? {} : { title }),
        description,
        inputSchema,
      })),
      ...unknown.map((name) => ({
        name,
        server: "recorded",
        description: "",
        inputSchema: { type: "object" },
      })),
    ],
    pageTools: api === "widget" ? catalog : [],
    exchanges,
  };
  return { recorded, notes: notesOn(recorded, unknown, thread.messages) };
}

function exchangesOf({ messages, usage }: StoredConversation): RecordedExchange[] {
  const replies = new Map(messages.flatMap((one) => (one.role === "assistant" ? [[one.runId, one]] : [])));
  return messages.flatMap((message) => {
    if (message.role !== "user") return [];
    const attachments = attachmentsOf(message);
    const reply = replies.get(message.runId);
    const tokens = usage.get(message.runId);
    return [
      {
        user: message.content,
        ...(attachments.length > 0 ? { attachments } : {}),
        calls: reply ? callsOf(reply) : [],
        ...(reply ? repliedOf(reply) : {}),
        ...(tokens === undefined ? {} : { usage: tokens }),
      },
    ];
  });
}

/** The attachments, without lost ones. */
function attachmentsOf({ attachments = [], addresses = [] }: SaidMessage) {
  return attachments.flatMap(({ name }, nth) => {
    const url = addresses[nth] ?? null;
    return url === null ? [] : [{ url, ...(name === undefined ? {} : { name }) }];
  });
}

/** A failed run without a reply has its error message as its content. */
function repliedOf({ content, error }: Message): Pick<RecordedExchange, "reply" | "error"> {
  if (error === undefined) return { reply: content };
  return { reply: error.message === content ? "" : content, error: error.message };
}

/** The calls, without refused ones, which no tool answered, and without the one that ends a run. */
function callsOf({ calls = [], steps = [] }: Message): RecordedCall[] {
  const failed = new Set(steps.flatMap(({ id, phase }) => (phase === "failed" ? [id] : [])));
  const uses = new Map<string, number>();
  return calls.flatMap((call) => {
    const { tool, result } = call;
    if (tool === TASK_FAILED || wasRefused(call)) return [];
    const use = (uses.get(tool) ?? 0) + 1;
    uses.set(tool, use);
    const isError = result !== null && failed.has(use === 1 ? tool : `${tool}#${use}`);
    return [{ tool, arguments: argumentsOf(call), result, ...(isError ? { isError } : {}) }];
  });
}

function argumentsOf({ arguments: text }: PastCall): RecordedCall["arguments"] {
  const parsed = parseArguments(text);
  if (!parsed.fits) return text;
  const { [PROGRESS]: _, ...rest } = parsed.arguments;
  return rest;
}

function visitorIn(speaker: Speaker | null): { visitor?: Visitor } {
  if (speaker === null) return {};
  const { displayName, page, customerContext, locale, attributes } = speaker;
  const visitor = {
    ...(displayName === null ? {} : { displayName }),
    ...(page === null ? {} : { page }),
    ...(customerContext === null ? {} : { customerContext }),
    ...(locale === undefined ? {} : { locale }),
    ...attributesField(attributes),
  };
  return Object.keys(visitor).length === 0 ? {} : { visitor };
}

function offeredName(name: string): string {
  return isAllowedName(name) ? name : safeName(name);
}

function notesOn(
  { exchanges }: ReplayCase,
  unknown: readonly string[],
  messages: readonly SaidMessage[],
): string[] {
  const withFiles = messages.filter(({ files }) => files !== undefined).length;
  const calls = exchanges.flatMap((exchange) => exchange.calls);
  const cut = calls.filter(
    ({ arguments: args, result }) => typeof args === "string" || (result?.length ?? 0) >= CUT_CHARS - 1,
  ).length;
  return [
    ...(unknown.length === 0
      ? []
      : [`Known from their calls alone, and offered without a description: ${unknown.join(", ")}.`]),
    ...(withFiles === 0
      ? []
      : [`A case keeps no files: what those of ${withFiles} messages say is not told to the model.`]),
    ...(cut === 0
      ? []
      : [
          `The store keeps ${CUT_CHARS} characters of a call's arguments and result: ${cut} of ${calls.length} are cut.`,
        ]),
  ];
}
