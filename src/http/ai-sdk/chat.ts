import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import { offerableTools } from "../../domain/offerable-tools.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Store } from "../../store.ts";
import { BODY_REFUSALS, originHeader, widgetRefusals } from "../reference/shared-documentation.ts";
import type { Documentation, Route } from "../route.ts";
import { sseAnswer } from "../stream/sse-answer.ts";
import { asMessage, asToolResult, countedCatalog } from "../widget-api/gate.ts";
import type { Gate } from "../widget-api/gate.ts";
import { jsonBody } from "../widget-api/request-readers.ts";
import { mustFitCatalog } from "../widget-api/tools.ts";
import type { VisitorMessages } from "../widget-api/visitor-message.ts";
import { chatBody, sentChat } from "./chat-body.ts";
import type { ChatRequest, SaidMessage } from "./chat-body.ts";
import { documentedFrames } from "./documented-frames.ts";
import { uiFrames } from "./ui-frames.ts";

const documentation: Documentation = {
  summary: "AI SDK: send a message, or a tool's output, and stream the reply",
  description:
    "The endpoint of the AI SDK's DefaultChatTransport. Rates, queue and limits are those of /v1/widget/messages and /v1/widget/tool-results. A reply that is over is not made anew (regenerate): 409.",
  credential: "visitorToken",
  params: {},
  query: {},
  headers: originHeader,
  body: {
    schema: sentChat,
    example: {
      id: "bkQmzpTqyiWfXH2uJ3dVxw",
      messages: [{ id: "msg-7Hq2", role: "user", parts: [{ type: "text", text: "Where is my order?" }] }],
      trigger: "submit-message",
    },
  },
  answers: {
    200: documentedFrames("The reply as a UI message stream"),
    ...widgetRefusals([...BODY_REFUSALS, "conflict"], {
      conflict: "Not the pending call, as for /v1/widget/tool-results; or the reply to the message is over",
    }),
  },
};

/** POST /v1/widget/ai-sdk/chat: passes what the AI SDK's client sends to the threads, as the widget API does. */
export function chatRoute(dependencies: {
  gate: Gate;
  messages: VisitorMessages;
  threads: Pick<Threads, "answer" | "setCatalog">;
  store: Pick<Store, "claimed" | "run">;
  config: Pick<Config, "limits">;
}): Route {
  const { gate, messages, threads, store, config } = dependencies;
  const { maxBodyBytes, maxCatalogChars } = config.limits;
  const read = jsonBody({ schema: chatBody, check: mustFit }, maxBodyBytes);

  function mustFit({ said, tools }: ChatRequest): void {
    if (said.type === "message") messages.mustBeMessage(said.message);
    if (tools) mustFitCatalog(tools, maxCatalogChars);
  }

  /** A reply in progress is sent again, or begun; a finished one is never sent as if it were a new one. */
  async function mustBeOpen(uid: string, { message }: SaidMessage): Promise<void> {
    const claim = await store.claimed(uid, message.clientMessageId);
    const run = claim && (await store.run(uid, claim.runId));
    if (run?.outcome) throw new Refusal("conflict");
  }

  return {
    method: "POST",
    path: "/v1/widget/ai-sdk/chat",
    api: "widget",
    documentation,
    async handle(incoming) {
      const visit = await gate.admitToThread(incoming, {
        counts: (body) => (body?.said.type === "output" ? asToolResult : asMessage).counts,
        read,
        threadName: ({ threadId }) => threadId,
        // A record that was read before a message's new tools are stored would offer the previous ones.
        loads: ({ said, tools }) => (said.type === "output" ? "last-in-parts" : tools ? null : "to-say"),
      });
      const { uid, slug, loading } = visit;
      const { said, tools } = visit.body;
      const catalog = tools && offerableTools(tools).tools;
      if (said.type === "message") {
        if (said.isAgain) await mustBeOpen(uid, said);
        if (catalog) await threads.setCatalog(uid, slug, catalog);
        const reply = await messages.say(incoming, visit, said.message);
        return sseAnswer(reply, incoming.request, uiFrames(reply.runId));
      }
      const { traceparent } = incoming;
      const { type: _, ...answer } = said;
      const reply = await threads.answer(
        { uid, slug, traceparent, catalog: catalog && countedCatalog(visit, catalog), ...answer },
        loading,
      );
      incoming.note({ runId: reply.runId });
      return sseAnswer(reply, incoming.request, uiFrames(reply.runId));
    },
  };
}
