import { z } from "zod";
import type { Threads } from "../../threads/threads.ts";
import type { ThreadRecord } from "../../store.ts";
import { endpoint, limitField } from "../endpoint.ts";
import { historyAnswer, pageFields, shownMessageId } from "../history-page.ts";
import type { Reads } from "../reads.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer } from "../route.ts";
import { sseAnswer } from "../stream/sse-answer.ts";
import { cancelEndpoint } from "../widget-api/threads.ts";
import { documentedFrames } from "./documented-frames.ts";
import { uiFrames } from "./ui-frames.ts";
import { EXAMPLE_UI_MESSAGES, uiMessage, uiMessages } from "./ui-messages.ts";

/** A client shows the whole conversation, and does not page through it. */
const MESSAGES = 100;

/** GET /v1/widget/ai-sdk/chat/:id/stream; POST …/stop; GET …/messages: what useChat asks of a thread. */
export function chatThread({
  threads,
  reads,
}: {
  threads: Pick<Threads, "follow" | "load" | "cancel" | "history" | "keptText" | "attachmentAddresses">;
  reads: Reads;
}) {
  return [
    endpoint({
      method: "GET",
      path: "/v1/widget/ai-sdk/chat/:id/stream",
      credential: "visitorToken",
      rate: "reads",
      finds: "thread",
      loads: "last-in-parts",
      summary: "AI SDK: the reply in progress again, from its beginning",
      description:
        "What useChat's `resume` asks. All of the assistant's message, then live; a pending tool call is its end. A run that is over is in the messages.",
      query: {
        after: {
          description:
            "The id of the last message that the page has: where it is the user's whose reply is over by now, that reply is told all the same",
          example: "msg-7Hq2",
        },
      },
      answers: {
        200: documentedFrames("The whole message as a UI message stream"),
        204: "No reply is in progress",
      },
      async handle({ thread, query, request, note }) {
        reads.mayBegin();
        const { uid, loading = threads.load(uid, "last-in-parts") } = thread;
        // `follow` repairs an unreadable record.
        const record = await loading.catch(() => null);
        if (record?.run?.outcome && !lacksReply(record, query.after)) return emptyAnswer(204);
        const reply = await threads.follow(uid, loading);
        if (!reply) return emptyAnswer(204);
        note({ runId: reply.runId });
        return sseAnswer(reply, request, uiFrames(reply.runId));
      },
    }),

    cancelEndpoint(threads, {
      path: "/v1/widget/ai-sdk/chat/:id/stop",
      summary: "AI SDK: stop the reply",
      description:
        "`stop()` of useChat only closes the connection, and the run goes on: this ends it. What was streamed stays. The body may be absent.",
    }),

    endpoint({
      method: "GET",
      path: "/v1/widget/ai-sdk/chat/:id/messages",
      credential: "visitorToken",
      rate: "reads",
      finds: "thread",
      summary: "AI SDK: the messages to begin with",
      description:
        "An array, as useChat takes it for `messages`; oldest first. A reply in progress is not among them: `resume` shows it. `before` is the id of an item of the thread's history.",
      query: { ...pageFields, limit: limitField(MESSAGES, pageFields.limit.description) },
      answers: { 200: documentedJson("UI messages", z.array(uiMessage), EXAMPLE_UI_MESSAGES) },
      handle: ({ thread, query, params }) =>
        historyAnswer({ threads, reads }, thread.uid, query, uiMessages(params.id)),
    }),
  ];
}

/** True if the page read its messages while the run was active, and asks for the run when it is over. */
function lacksReply({ run, tail }: ThreadRecord, after: string | null): boolean {
  const asked = tail.find(({ role, runId }) => role === "user" && runId === run?.runId);
  return asked !== undefined && shownMessageId(asked) === after;
}
