import { z } from "zod";
import type { Threads } from "../../threads/threads.ts";
import { VERSION } from "../../version.ts";
import { endpoint } from "../endpoint.ts";
import { historyPieces } from "../history-page.ts";
import type { Reads } from "../reads.ts";
import { param } from "../reference/documentation.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { encoded, sseAnswer, sseWhole } from "../stream/sse-answer.ts";
import { NOTHING_RUNS } from "../widget-api/threads.ts";
import { agentEvents, runStarted } from "./agent-events.ts";
import { messagesSnapshot } from "./agent-messages.ts";
import { documentedEvents } from "./documented-events.ts";
import { isNewProtocol, sentConnect } from "./run-input.ts";
import type { ConnectInput } from "./run-input.ts";
import { ifUnreadable, runEndpoint } from "./run.ts";
import type { RunDependencies } from "./run.ts";

/** The only agent; in its requests a page may use any name. */
const AGENT = "default";

const params = {
  id: param("The agent's name in the page: there is one agent, whatever its name", AGENT),
};

const INFO = {
  version: VERSION,
  agents: { [AGENT]: { name: AGENT, description: "Chat Agent Service", className: "HttpAgent" } },
  audioFileTranscriptionEnabled: false,
  mode: "sse",
};

const infoSchema = z.object({
  version: z.string(),
  agents: z.record(
    z.string(),
    z.object({ name: z.string(), description: z.string(), className: z.string() }),
  ),
  audioFileTranscriptionEnabled: z.literal(false),
  mode: z.literal("sse"),
});

/** A client shows the whole conversation, and does not page through it. */
const MESSAGES = 100;

/** GET /v1/widget/copilotkit/info; POST /v1/widget/copilotkit/agent/:id/run, …/connect, …/stop/:threadId. */
export function copilotKit(
  dependencies: RunDependencies & {
    threads: Pick<Threads, "follow" | "load" | "cancel" | "history" | "keptText" | "attachmentAddresses">;
    reads: Reads;
  },
) {
  const { threads, reads } = dependencies;

  /** The reply in progress; a finished one is in the history. */
  async function replyIn(uid: string, loading = threads.load(uid, "last-in-parts")) {
    const record = await loading.catch(ifUnreadable);
    return record?.run && !record.run.outcome ? threads.follow(uid, loading) : null;
  }

  return [
    endpoint({
      method: "GET",
      path: "/v1/widget/copilotkit/info",
      credential: "visitorToken",
      rate: "reads",
      summary: "CopilotKit: what there is at this runtimeUrl",
      description: "What a CopilotKit page asks first. The same for every visitor.",
      answers: { 200: documentedJson("One agent", infoSchema, INFO) },
      handle: async () => jsonAnswer(200, INFO),
    }),

    runEndpoint(dependencies, {
      path: "/v1/widget/copilotkit/agent/:id/run",
      summary: "CopilotKit: send a message, or a tool's output, and stream the reply",
      params,
    }),

    endpoint({
      method: "POST",
      path: "/v1/widget/copilotkit/agent/:id/connect",
      credential: "visitorToken",
      rate: "reads",
      finds: "threadOfBody",
      loads: "last-in-parts",
      summary: "CopilotKit: what was said, and the reply in progress",
      description:
        "What a CopilotKit page asks when it shows a thread: the last messages in one event, then the reply in progress from its beginning, then live. Of a RunAgentInput the thread counts.",
      params,
      body: {
        schema: sentConnect,
        example: { threadId: "bkQmzpTqyiWfXH2uJ3dVxw", runId: "5f0c2a86-7a3c-4f3c-9d51-1c7e0d1a2b3c" },
      },
      answers: { 200: documentedEvents("The thread") },
      async handle({ thread: { uid, loading }, body, request, note }) {
        reads.mayBegin();
        const reply = await replyIn(uid, loading);
        const page = {
          limit: MESSAGES,
          before: null,
          shape: messagesSnapshot(body.threadId),
          but: reply?.runId ?? null,
        };
        const history = await historyPieces({ threads, reads }, uid, page).catch((error: unknown) => {
          reply?.leave();
          throw error;
        });
        if (!reply) return sseWhole(atRest(body, history), request);
        const { runId: ofRun } = reply;
        note({ runId: ofRun });
        const told = { ...namesOf(body), ofRun, messageId: ofRun, snapshot: null, decided: null };
        return sseAnswer(reply, request, agentEvents(told), history);
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/widget/copilotkit/agent/:id/stop/:threadId",
      credential: "visitorToken",
      rate: null,
      finds: "thread",
      summary: "CopilotKit: stop the reply",
      description: "The run that goes on ends, and its stream; what was streamed stays. A body is ignored.",
      params,
      answers: { 204: NOTHING_RUNS },
      async handle({ thread }) {
        await threads.cancel(thread.uid, null);
        return emptyAnswer(204);
      },
    }),
  ];
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
