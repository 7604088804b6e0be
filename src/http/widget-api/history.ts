import { fieldsOf } from "../reference/documentation.ts";
import type { Threads } from "../../actors/threads.ts";
import { EXAMPLE_PAGE, historyAnswer, historyPage, historyQuery, pageFields } from "../history-page.ts";
import {
  documentedJson,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import type { Reads } from "../reads.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "./gate.ts";
import { toHistory } from "./thread-entrances.ts";

const documentation: Documentation = {
  summary: "Read a thread's history",
  description: "The last messages, oldest first. A reply in progress is not among them.",
  credential: "visitorToken",
  params: threadParam,
  query: fieldsOf(pageFields),
  headers: originHeader,
  body: null,
  answers: {
    200: documentedJson("The messages", historyPage, EXAMPLE_PAGE),
    ...widgetRefusals([
      "unauthorized",
      "forbidden",
      "not-found",
      "too-large",
      "invalid",
      "rate-limited",
      "unavailable",
    ]),
  },
};

/** GET /v1/widget/threads/:id/messages: the latest messages, oldest first. */
export function historyRoute(dependencies: {
  gate: Gate;
  threads: Pick<Threads, "history" | "keptText" | "attachmentAddresses">;
  reads: Reads;
}): Route {
  const { gate } = dependencies;
  return {
    method: "GET",
    path: "/v1/widget/threads/:id/messages",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { body: page, uid } = await gate.admitToThread(incoming, toHistory(incoming, historyQuery));
      return historyAnswer(dependencies, uid, page);
    },
  };
}
