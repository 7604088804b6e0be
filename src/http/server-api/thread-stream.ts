import type { Threads } from "../../actors/threads.ts";
import { documentedEmpty, documentedLines, serverRefusals } from "../reference/shared-documentation.ts";
import { widgetLine } from "../../protocol/lines.ts";
import type { Reads } from "../reads.ts";
import type { Documentation, Route } from "../route.ts";
import { followAnswer, runField } from "../stream/follow-answer.ts";
import { admitToNamedThread, namedThreadParam, ownerFields, ownerQuery } from "./named-thread.ts";
import type { ThreadAdmission } from "./named-thread.ts";

const documentation: Documentation = {
  summary: "Re-attach to a run: the active or last one, or the one that is named",
  description:
    "Everything said since the user's message, then live, to the terminal line of the present stream. A thread that began in the widget tells its tool_call lines here too.",
  credential: "transportKey",
  params: namedThreadParam,
  query: { ...ownerFields, ...runField },
  headers: {},
  body: null,
  answers: {
    200: documentedLines("The run's stream", widgetLine, { type: "done", elapsedMs: 1200 }),
    204: documentedEmpty("The thread has had no run, and none is named"),
    ...serverRefusals(["unauthorized", "not-found", "too-large", "invalid", "unavailable"], {
      "not-found": "Unknown thread",
      invalid: "The query does not match the schema",
    }),
  },
};

/** GET /v1/threads/:threadId/stream: the active or last run again, from its beginning; with `?run=`, that run. */
export function serverStreamRoute(dependencies: {
  admission: ThreadAdmission;
  threads: Pick<Threads, "follow" | "followRun">;
  reads: Pick<Reads, "mayBegin">;
}): Route {
  const { admission, threads, reads } = dependencies;
  return {
    method: "GET",
    path: "/v1/threads/:threadId/stream",
    api: "server",
    documentation,
    async handle(incoming) {
      const { uid } = await admitToNamedThread(incoming, admission, ownerQuery);
      reads.mayBegin();
      return followAnswer(incoming, threads, { uid });
    },
  };
}
