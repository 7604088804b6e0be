import type { Threads } from "../../actors/threads.ts";
import {
  documentedLines,
  documentedEmpty,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { widgetLine } from "../reference/line-schemas.ts";
import { streamAnswer } from "../stream/stream-answer.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "./gate.ts";
import { noBody } from "./request-readers.ts";

const documentation: Documentation = {
  summary: "Re-attach to the active or last run",
  description:
    "Everything said since the user's message, then live, to the terminal line of the present stream. A pending tool_call is that line.",
  credential: "visitorToken",
  params: threadParam,
  query: {},
  headers: originHeader,
  body: null,
  answers: {
    200: documentedLines("The run's stream", widgetLine, { type: "done", elapsedMs: 1200 }),
    204: documentedEmpty("The thread has had no run"),
    ...widgetRefusals(["unauthorized", "forbidden", "not-found", "too-large", "unavailable"]),
  },
};

/** GET /v1/widget/threads/:id/stream: the active or last run again, from its beginning (contract, Re-attaching). */
export function streamRoute({ gate, threads }: { gate: Gate; threads: Pick<Threads, "follow"> }): Route {
  return {
    method: "GET",
    path: "/v1/widget/threads/:id/stream",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { uid, loading } = await gate.admitToThread(incoming, {
        counts: [],
        read: noBody,
        threadName: () => incoming.params["id"] ?? "",
        loads: "last",
      });
      const reply = await threads.follow(uid, loading);
      if (!reply) return emptyAnswer(204);
      incoming.note({ runId: reply.runId });
      return streamAnswer(reply, incoming.request);
    },
  };
}
