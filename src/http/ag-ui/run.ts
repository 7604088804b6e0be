import type { Reply } from "../../threads/hold/reply.ts";
import type { Threads } from "../../threads/threads.ts";
import type { Config } from "../../config.ts";
import { offerableTools } from "../../domain/channels/offerable-tools.ts";
import { Refusal } from "../../domain/refusal.ts";
import { UnreadableRecord } from "../../store.ts";
import type { ThreadRecord } from "../../store.ts";
import { endpoint } from "../endpoint.ts";
import type { Field } from "../route.ts";
import { sseAnswer } from "../stream/sse-answer.ts";
import { countedCatalog, mustFitCatalog } from "../widget-api/tools.ts";
import type { VisitorAsked, VisitorMessages } from "../widget-api/visitor-message.ts";
import type { SayAgain } from "../said-again.ts";
import { agentEvents } from "./agent-events.ts";
import { documentedEvents } from "./documented-events.ts";
import { runInput } from "./run-input.ts";
import type { RunInput, ToolOutput } from "./run-input.ts";

/** An endpoint that takes AG-UI's input: AG-UI's own, and that of a front end that uses the protocol. */
interface RunPlace {
  path: string;
  summary: string;
  params?: Record<string, Field>;
}

export const AG_UI: RunPlace = {
  path: "/v1/widget/ag-ui",
  summary: "AG-UI: send a message, or a tool's output, and stream the reply",
};

export interface RunDependencies {
  messages: VisitorMessages;
  sayAgain: SayAgain;
  threads: Pick<Threads, "answer" | "approve" | "setCatalog" | "load">;
  config: Pick<Config, "limits">;
}

/** POST /v1/widget/ag-ui: passes what AG-UI's clients send to the threads, as the widget API does. */
export function runEndpoint({ messages, sayAgain, threads, config }: RunDependencies, place: RunPlace) {
  async function replyTo(asked: VisitorAsked, input: RunInput): Promise<Reply> {
    const { caller, thread, traceparent, note } = asked;
    const { uid, loading } = thread;
    const { slug } = caller;
    const { said, tools } = input;
    const record = await (loading ?? threads.load(uid, runsFor(input))).catch(ifUnreadable);
    const catalog = tools && offerableTools(tools).tools;
    // What is told then is the reply from its beginning, as to whoever sends a message again.
    if (input.decision) await threads.approve({ uid, slug, by: "visitor", ...input.decision });
    if (said.type === "message") {
      const say = said.isAgain ? sayAgain : messages.say;
      // A catalog comes with each request, and is hardly ever new.
      const isKnown = record && JSON.stringify(record.catalog) === JSON.stringify(catalog);
      if (catalog === null || isKnown) return say(asked, said.message);
      await threads.setCatalog(uid, slug, catalog);
      // The record that was read before the new tools were stored would offer the previous ones.
      return say({ ...asked, thread: { uid } }, said.message);
    }
    const tool = calledTool(record, said);
    if (tool === null) throw new Refusal("conflict", "No such call is pending");
    const { type: _, ...answer } = said;
    const reply = await threads.answer(
      { uid, slug, traceparent, tool, catalog: catalog && countedCatalog(caller, catalog), ...answer },
      loading,
    );
    note({ runId: reply.runId });
    return reply;
  }

  return endpoint({
    ...place,
    method: "POST",
    credential: "visitorToken",
    rate: (body) => (body?.said.type === "output" ? "toolResults" : "messages"),
    finds: "threadOfBody",
    loads: runsFor,
    description:
      "A RunAgentInput. Rates, queue and limits are those of /v1/widget/messages and /v1/widget/tool-results. A message that was sent before is not said again: its reply is told once more. With `forwardedProps.regenerate` it is answered anew, and with other words it replaces the earlier one: a branch begins.",
    body: {
      schema: runInput,
      example: {
        threadId: "bkQmzpTqyiWfXH2uJ3dVxw",
        runId: "5f0c2a86-7a3c-4f3c-9d51-1c7e0d1a2b3c",
        protocolVersion: "1.0",
        messages: [{ id: "msg-9Kd4", role: "user", content: "Where is my order?" }],
        tools: [],
        context: [{ description: "plan", value: "pro" }],
        forwardedProps: { page: "/orders?id=7" },
      },
      check({ said, tools }) {
        if (said.type === "message") messages.mustBeMessage(said.message);
        if (tools) mustFitCatalog(tools, config.limits.maxCatalogChars);
      },
    },
    answers: { 200: documentedEvents("The reply") },
    refusals: {
      conflict:
        "Not the thread's pending call: unknown, answered, or superseded; or what is to be answered anew is in another branch",
    },
    async handle(asked) {
      const reply = await replyTo(asked, asked.body);
      return sseAnswer(reply, asked.request, agentEvents(toldTo(asked.body, reply)));
    },
  });
}

/** An unreadable record counts as none: the next message or answer repairs it. */
export function ifUnreadable(error: unknown): null {
  if (error instanceof UnreadableRecord) return null;
  throw error;
}

function runsFor({ said }: RunInput) {
  return said.type === "output" ? "last-in-parts" : "active";
}

/** A tool's message does not name the tool, and the client's own copy of the call is not trusted. */
function calledTool(record: ThreadRecord | null, { callId }: ToolOutput): string | null {
  const { terminal, answered } = record?.run ?? {};
  if (answered?.callId === callId) return answered.tool;
  return terminal?.type === "tool_call" && terminal.callId === callId ? terminal.tool : null;
}

function toldTo(input: RunInput, { runId: ofRun }: Reply) {
  const { threadId, runId, isNewProtocol, said, decision, upToSaid: snapshot, knownIds } = input;
  // The same id for each repeat; but never the id of a message that the client has: it would take its calls for old
  // ones.
  let messageId = said.type === "message" ? ofRun : `${ofRun}:${said.callId}`;
  while (knownIds.has(messageId)) messageId += "+";
  const decided = decision?.callId ?? null;
  return { threadId, runId, isNewProtocol, ofRun, messageId, snapshot, decided };
}
