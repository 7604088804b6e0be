import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import { historyPieces } from "../history-page.ts";
import type { Reads } from "../reads.ts";
import { BODY_REFUSALS, originHeader, widgetRefusals } from "../reference/shared-documentation.ts";
import type { Documentation, Route } from "../route.ts";
import { encoded, sseAnswer, sseWhole } from "../stream/sse-answer.ts";
import { asRead } from "../widget-api/gate.ts";
import type { Gate } from "../widget-api/gate.ts";
import { jsonBody } from "../widget-api/request-readers.ts";
import { agentEvents, runStarted } from "./agent-events.ts";
import { MESSAGES_SNAPSHOT } from "./agent-messages.ts";
import { agentParam } from "./copilot-info.ts";
import { documentedEvents } from "./documented-events.ts";
import { isNewProtocol, sentConnect } from "./run-input.ts";
import type { ConnectInput } from "./run-input.ts";
import { ifUnreadable } from "./run.ts";

/** A client shows the whole conversation, and does not page through it. */
const MESSAGES = 100;

const documentation: Documentation = {
  summary: "CopilotKit: what was said, and the reply in progress",
  description:
    "What a CopilotKit page asks when it shows a thread: the last messages in one event, then the reply in progress from its beginning, then live. Of a RunAgentInput the thread counts.",
  credential: "visitorToken",
  params: agentParam,
  query: {},
  headers: originHeader,
  body: {
    schema: sentConnect,
    example: { threadId: "bkQmzpTqyiWfXH2uJ3dVxw", runId: "5f0c2a86-7a3c-4f3c-9d51-1c7e0d1a2b3c" },
  },
  answers: { 200: documentedEvents("The thread"), ...widgetRefusals(BODY_REFUSALS) },
};

/** POST /v1/widget/copilotkit/agent/:id/connect: a thread as AG-UI's events. */
export function copilotConnectRoute({
  gate,
  threads,
  reads,
  config,
}: {
  gate: Gate;
  threads: Pick<Threads, "follow" | "load" | "history" | "keptText" | "attachmentAddresses">;
  reads: Reads;
  config: Pick<Config, "limits">;
}): Route {
  const read = jsonBody({ schema: sentConnect }, config.limits.maxBodyBytes);

  /** The reply in progress; a finished one is in the history. */
  async function replyIn(uid: string, loading = threads.load(uid, "last-in-parts")) {
    const record = await loading.catch(ifUnreadable);
    return record?.run && !record.run.outcome ? threads.follow(uid, loading) : null;
  }

  return {
    method: "POST",
    path: "/v1/widget/copilotkit/agent/:id/connect",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { request } = incoming;
      const visit = await gate.admitToThread(incoming, {
        ...asRead,
        read,
        threadName: ({ threadId }) => threadId,
        loads: "last-in-parts",
      });
      const { uid, body, loading } = visit;
      reads.mayBegin();
      const reply = await replyIn(uid, loading);
      const page = { limit: MESSAGES, before: null, shape: MESSAGES_SNAPSHOT, but: reply?.runId ?? null };
      const history = await historyPieces({ threads, reads }, uid, page).catch((error: unknown) => {
        reply?.leave();
        throw error;
      });
      if (!reply) return sseWhole(atRest(body, history), request);
      const { runId: ofRun } = reply;
      incoming.note({ runId: ofRun });
      const told = { ...namesOf(body), ofRun, messageId: ofRun, snapshot: null };
      return sseAnswer(reply, request, agentEvents(told), history);
    },
  };
}

function namesOf({ threadId, runId, protocolVersion }: ConnectInput) {
  return { threadId, runId, isNewProtocol: isNewProtocol(protocolVersion) };
}

async function* atRest(input: ConnectInput, history: AsyncGenerator<string>): AsyncGenerator<string> {
  const { threadId, runId } = input;
  yield encoded([runStarted(input)]);
  yield* history;
  yield encoded([{ type: "RUN_FINISHED", threadId, runId }]);
}
