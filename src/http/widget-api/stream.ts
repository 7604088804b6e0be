import type { Threads } from "../../actors/threads.ts";
import { lines, nothing, originHeader, threadParam, widgetRefusals } from "../reference/documented.ts";
import { widgetLine } from "../reference/line-schemas.ts";
import { streamAnswer } from "../stream/lines.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "./gate.ts";
import { nothingMore } from "./reading.ts";

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
    200: lines("The run's stream", widgetLine, { type: "done", elapsedMs: 1200 }),
    204: nothing("The thread has had no run"),
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
    async handle(asked) {
      const { uid, loading } = await gate.admitToThread(asked, {
        counts: [],
        read: nothingMore,
        threadName: () => asked.params["id"] ?? "",
        loads: "last",
      });
      const reply = await threads.follow(uid, loading);
      if (!reply) return emptyAnswer(204);
      asked.note({ runId: reply.runId });
      return streamAnswer(reply, asked.request);
    },
  };
}
