import type { Threads } from "../../threads/threads.ts";
import type { Config } from "../../config.ts";
import { offerableTools } from "../../domain/channels/offerable-tools.ts";
import { Refusal } from "../../domain/refusal.ts";
import { endpoint } from "../endpoint.ts";
import { sseAnswer } from "../stream/sse-answer.ts";
import { countedCatalog, mustFitCatalog } from "../widget-api/tools.ts";
import type { SayAgain } from "../said-again.ts";
import type { VisitorMessages } from "../widget-api/visitor-message.ts";
import { chatBody } from "./chat-body.ts";
import { documentedFrames } from "./documented-frames.ts";
import { uiFrames } from "./ui-frames.ts";

/** POST /v1/widget/ai-sdk/chat: passes what the AI SDK's client sends to the threads, as the widget API does. */
export function chatEndpoint({
  messages,
  sayAgain,
  threads,
  config,
}: {
  messages: VisitorMessages;
  sayAgain: SayAgain;
  threads: Pick<Threads, "answer" | "approve" | "follow" | "load" | "setCatalog">;
  config: Pick<Config, "limits">;
}) {
  return endpoint({
    method: "POST",
    path: "/v1/widget/ai-sdk/chat",
    credential: "visitorToken",
    rate: (body) => (body && body.said.type !== "message" ? "toolResults" : "messages"),
    finds: "threadOfBody",
    // A record that was read before a message's new tools are stored would offer the previous ones.
    loads: ({ said, tools }) =>
      said.type === "output" ? "last-in-parts" : said.type === "decision" || tools ? null : "to-say",
    summary: "AI SDK: send a message, or a tool's output, and stream the reply",
    description:
      "The endpoint of the AI SDK's DefaultChatTransport. Rates, queue and limits are those of /v1/widget/messages and /v1/widget/tool-results. A reply that is over is made anew (regenerate), and an edited message replaces the earlier one: a branch begins.",
    body: {
      schema: chatBody,
      example: {
        id: "bkQmzpTqyiWfXH2uJ3dVxw",
        messages: [{ id: "msg-7Hq2", role: "user", parts: [{ type: "text", text: "Where is my order?" }] }],
        trigger: "submit-message",
      },
      check({ said, tools }) {
        if (said.type === "message") messages.mustBeMessage(said.message);
        if (tools) mustFitCatalog(tools, config.limits.maxCatalogChars);
      },
    },
    answers: { 200: documentedFrames("The reply as a UI message stream") },
    refusals: {
      conflict:
        "Not the pending call, as for /v1/widget/tool-results, or none that waits for this approval; or what is to be regenerated is in another branch",
    },
    async handle(asked) {
      const { caller, thread, body, request, traceparent, note } = asked;
      const { slug } = caller;
      const { uid, loading } = thread;
      const { said, tools, asksApproval } = body;
      const catalog = tools && offerableTools(tools).tools;
      if (said.type === "message") {
        if (catalog) await threads.setCatalog(uid, slug, catalog);
        const { message } = said;
        const reply = await (said.isAgain ? sayAgain(asked, message) : messages.say(asked, message));
        return sseAnswer(reply, request, uiFrames(reply.runId, { asksApproval }));
      }
      if (said.type === "decision") {
        const { type: _, stepId: __, ...decided } = said;
        await threads.approve({ uid, slug, by: "visitor", ...decided });
        const reply = await threads.follow(uid, threads.load(uid, "last-in-parts"));
        if (!reply) throw new Refusal("conflict", "No run of this call is in progress");
        note({ runId: reply.runId });
        return sseAnswer(reply, request, uiFrames(reply.runId, { asksApproval, decided: said }));
      }
      const { type: _, ...answer } = said;
      const reply = await threads.answer(
        { uid, slug, traceparent, catalog: catalog && countedCatalog(caller, catalog), ...answer },
        loading,
      );
      note({ runId: reply.runId });
      return sseAnswer(reply, request, uiFrames(reply.runId, { asksApproval }));
    },
  });
}
