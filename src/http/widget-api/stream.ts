import { fieldsOf } from "../reference/documentation.ts";
import type { Threads } from "../../actors/threads.ts";
import {
  documentedLines,
  documentedEmpty,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { widgetLine } from "../reference/line-schemas.ts";
import { followAnswer, runField } from "../stream/follow-answer.ts";
import type { Reads } from "../reads.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "./gate.ts";
import { toReply } from "./thread-entrances.ts";

const documentation: Documentation = {
  summary: "Re-attach to a run: the active or last one, or the one that is named",
  description:
    "Everything said since the user's message, then live, to the terminal line of the present stream. A pending tool_call is that line. A run that others have followed since is told in short.",
  credential: "visitorToken",
  params: threadParam,
  query: fieldsOf(runField),
  headers: originHeader,
  body: null,
  answers: {
    200: documentedLines("The run's stream", widgetLine, { type: "done", elapsedMs: 1200 }),
    204: documentedEmpty("The thread has had no run, and none is named"),
    ...widgetRefusals(
      ["unauthorized", "forbidden", "not-found", "too-large", "rate-limited", "unavailable"],
      {
        "not-found": "The thread does not exist or belongs to another visitor, or it has no such run",
      },
    ),
  },
};

/**
 * GET /v1/widget/threads/:id/stream: the active or last run again, from its beginning (contract, Re-attaching); with
 * `?run=`, that run.
 */
export function streamRoute({
  gate,
  threads,
  reads,
}: {
  gate: Gate;
  threads: Pick<Threads, "follow" | "followRun">;
  reads: Pick<Reads, "mayBegin">;
}): Route {
  return {
    method: "GET",
    path: "/v1/widget/threads/:id/stream",
    api: "widget",
    documentation,
    async handle(incoming) {
      const visit = await gate.admitToThread(incoming, toReply(incoming));
      reads.mayBegin();
      const run = new URLSearchParams(incoming.request.query).get("run");
      return followAnswer({ ...incoming, query: { run } }, threads, visit);
    },
  };
}
