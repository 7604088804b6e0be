import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { ThreadRecord } from "../../store.ts";
import {
  documentedEmpty,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { shownMessageId } from "../history-page.ts";
import type { Reads } from "../reads.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { sseAnswer } from "../stream/sse-answer.ts";
import type { Gate } from "../widget-api/gate.ts";
import { toReply } from "../widget-api/thread-entrances.ts";
import { documentedFrames } from "./documented-frames.ts";
import { uiFrames } from "./ui-frames.ts";

const documentation: Documentation = {
  summary: "AI SDK: the reply in progress again, from its beginning",
  description:
    "What useChat's `resume` asks. All of the assistant's message, then live; a pending tool call is its end. A run that is over is in the messages.",
  credential: "visitorToken",
  params: threadParam,
  query: {
    after: {
      description:
        "The id of the last message that the page has: where it is the user's whose reply is over by now, that reply is told all the same",
      schema: z.string(),
      required: false,
      example: "msg-7Hq2",
    },
  },
  headers: originHeader,
  body: null,
  answers: {
    200: documentedFrames("The whole message as a UI message stream"),
    204: documentedEmpty("No reply is in progress"),
    ...widgetRefusals(["unauthorized", "forbidden", "not-found", "too-large", "rate-limited", "unavailable"]),
  },
};

/** GET /v1/widget/ai-sdk/chat/:id/stream: the reply in progress. */
export function chatStreamRoute({
  gate,
  threads,
  reads,
}: {
  gate: Gate;
  threads: Pick<Threads, "follow" | "load">;
  reads: Pick<Reads, "mayBegin">;
}): Route {
  return {
    method: "GET",
    path: "/v1/widget/ai-sdk/chat/:id/stream",
    api: "widget",
    documentation,
    async handle(incoming) {
      const visit = await gate.admitToThread(incoming, toReply(incoming));
      reads.mayBegin();
      const { uid, loading = threads.load(uid, "last-in-parts") } = visit;
      // `follow` repairs an unreadable record.
      const record = await loading.catch(() => null);
      if (record?.run?.outcome && !lacksReply(record, incoming.request.query)) return emptyAnswer(204);
      const reply = await threads.follow(uid, loading);
      if (!reply) return emptyAnswer(204);
      incoming.note({ runId: reply.runId });
      return sseAnswer(reply, incoming.request, uiFrames(reply.runId));
    },
  };
}

/** True if the page read its messages while the run was active, and asks for the run when it is over. */
function lacksReply({ run, tail }: ThreadRecord, query: string): boolean {
  const after = new URLSearchParams(query).get("after");
  const asked = tail.find(({ role, runId }) => role === "user" && runId === run?.runId);
  return asked !== undefined && shownMessageId(asked) === after;
}
