import { createMcpSessions } from "../../agent/mcp/sessions.ts";
import type { ServerTool } from "../../agent/tools/tools.ts";
import { systemClock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import type { Usage } from "../../../machines/run.ts";
import { attachmentAddresses } from "../../threads/say/attachment-addresses.ts";
import { caseOfThread } from "../../replay/case-of-thread.ts";
import type { SaidMessage } from "../../replay/case-of-thread.ts";
import type { ReplayCase } from "../../replay/case.ts";
import type { Store } from "../../store.ts";
import { noteReading } from "../../operators/threads/threads.ts";
import { asCommandLine } from "../command/as-command-line.ts";
import { serversOf } from "../channel-servers.ts";
import { commandVariables } from "../channel-variables.ts";
import { commandLog } from "../command/command-log.ts";
import { existingChannel, existingThread } from "../command/existing.ts";
import { CannotDo } from "../command/terminal.ts";
import type { Terminal } from "../command/terminal.ts";
import { wholeHistory } from "./whole-history.ts";
import { withStore } from "../command/with-store.ts";

/** How many of the latest runs are read for their tokens; those of older runs stay unknown. */
const RUNS = 1_000;

export interface StoredCaseOptions {
  slug: string;
  id: string;
  /** The thread's user, if `id` is the caller's own id of the thread. */
  userId: string | null;
  /** Asks the channel's MCP servers for the list of their tools. */
  listTools: boolean;
}

/** Makes a case of a stored thread, also while the service runs; what the store does not know is noted on stderr. */
export function readStoredCase(
  terminal: Terminal,
  { slug, id, userId, listTools }: StoredCaseOptions,
): Promise<ReplayCase> {
  return withStore(terminal, async (store, config) => {
    const { agent, kind } = await existingChannel(store, slug);
    const { uid } = await existingThread(store, slug, { id, userId });
    await noteReading(asCommandLine(store), slug, uid);
    const record = await store.load(uid, 1);
    const { recorded, notes } = caseOfThread({
      slug,
      uid,
      agent,
      catalog: record?.catalog ?? [],
      serverTools: listTools ? await toolsOf(terminal, { store, config, slug }) : [],
      messages: await messagesOf(store, uid),
      api: record?.run?.api ?? (kind === "web" ? "widget" : "server"),
      speaker: record?.run?.speaker ?? null,
      usage: await usageOf(store, uid),
    });
    if (recorded.exchanges.length === 0)
      throw new CannotDo(`Cannot replay thread ${id}: nothing was said in it`);
    for (const note of notes) terminal.err(`${note}\n`);
    return recorded;
  });
}

/** The thread's messages, with the images that are stored beside it. */
async function messagesOf(store: Store, uid: string): Promise<SaidMessage[]> {
  const messages = await wholeHistory(store, uid);
  return Promise.all(
    messages.map(async (message) => {
      if (!message.attachments) return message;
      return { ...message, addresses: await attachmentAddresses(store, uid, message) };
    }),
  );
}

/** Only lists the tools; calls none. */
async function toolsOf(
  terminal: Terminal,
  channel: { store: Store; config: Config; slug: string },
): Promise<ServerTool[]> {
  const { slug, config } = channel;
  const { servers, allowsPrivate } = await serversOf(terminal, channel);
  const variables = await commandVariables(terminal, config);
  const sessions = createMcpSessions({
    allowsPrivate,
    clock: systemClock,
    log: commandLog(terminal, config),
    variable: (name) => variables.read(slug, name),
  });
  try {
    const { tools, missing } = await sessions.tools(slug, servers, new AbortController().signal);
    if (missing.length > 0)
      terminal.err(`The tools of these servers could not be listed: ${missing.join(", ")}\n`);
    return tools;
  } finally {
    await sessions.close();
  }
}

async function usageOf(store: Store, uid: string): Promise<Map<string, Usage>> {
  const runs = await store.runs(uid, RUNS);
  return new Map(
    runs.flatMap(({ runId, terminal }): [string, Usage][] => {
      if (terminal?.type !== "done") return [];
      const { inputTokens: input, outputTokens: output } = terminal;
      return input === undefined || output === undefined ? [] : [[runId, { input, output }]];
    }),
  );
}
