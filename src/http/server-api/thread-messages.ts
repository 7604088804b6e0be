import type { Threads } from "../../actors/threads.ts";
import { historyPage } from "../../protocol/history.ts";
import { EXAMPLE_PAGE, historyAnswer, historyQuery, pageFields } from "../history-page.ts";
import { documentedJson, serverRefusals } from "../reference/shared-documentation.ts";
import type { Reads } from "../reads.ts";
import type { Documentation, Route } from "../route.ts";
import { admitToNamedThread, namedThreadParam, ownerFields, ownerQuery } from "./named-thread.ts";
import type { ThreadAdmission } from "./named-thread.ts";

const querySchema = historyQuery.extend(ownerQuery.shape);

const documentation: Documentation = {
  summary: "Read a thread's history",
  description:
    "The last messages, oldest first, as the widget reads them. A reply in progress is not among them. A blocked user's threads can be read.",
  credential: "transportKey",
  params: namedThreadParam,
  query: { ...ownerFields, ...pageFields },
  headers: {},
  body: null,
  answers: {
    200: documentedJson("The messages", historyPage, EXAMPLE_PAGE),
    ...serverRefusals(["unauthorized", "not-found", "too-large", "invalid", "unavailable"], {
      "not-found": "Unknown thread",
      invalid: "The query does not match the schema",
    }),
  },
};

/** GET /v1/threads/:threadId/messages: the history, for a backend. Creates nothing. */
export function serverHistoryRoute(dependencies: {
  admission: ThreadAdmission;
  threads: Pick<Threads, "history" | "keptText" | "attachmentAddresses">;
  reads: Reads;
}): Route {
  const { admission } = dependencies;
  return {
    method: "GET",
    path: "/v1/threads/:threadId/messages",
    api: "server",
    documentation,
    async handle(incoming) {
      const { uid, query } = await admitToNamedThread(incoming, admission, querySchema);
      return historyAnswer(dependencies, uid, query);
    },
  };
}
