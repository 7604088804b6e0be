import { fieldsOf } from "../reference/documentation.ts";
import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import { historyAnswer, historyQuery, pageFields } from "../history-page.ts";
import {
  documentedJson,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { limitField } from "../endpoint.ts";
import type { Reads } from "../reads.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "../widget-api/gate.ts";
import { toHistory } from "../widget-api/thread-entrances.ts";
import { EXAMPLE_UI_MESSAGES, UI_MESSAGES, uiMessage } from "./ui-messages.ts";

/** A client shows the whole conversation, and does not page through it. */
const MESSAGES = 100;

const query = historyQuery.extend({ limit: limitField(MESSAGES).schema });

const documentation: Documentation = {
  summary: "AI SDK: the messages to begin with",
  description:
    "An array, as useChat takes it for `messages`; oldest first. A reply in progress is not among them: `resume` shows it. `before` is the id of an item of the thread's history.",
  credential: "visitorToken",
  params: threadParam,
  query: {
    ...fieldsOf({ ...pageFields, limit: limitField(MESSAGES, pageFields.limit.description) }),
  },
  headers: originHeader,
  body: null,
  answers: {
    200: documentedJson("UI messages", z.array(uiMessage), EXAMPLE_UI_MESSAGES),
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

/** GET /v1/widget/ai-sdk/chat/:id/messages: the history as UI messages. */
export function chatMessagesRoute(dependencies: {
  gate: Gate;
  threads: Pick<Threads, "history" | "keptText" | "attachmentAddresses">;
  reads: Reads;
}): Route {
  return {
    method: "GET",
    path: "/v1/widget/ai-sdk/chat/:id/messages",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { body: page, uid } = await dependencies.gate.admitToThread(incoming, toHistory(incoming, query));
      return historyAnswer(dependencies, uid, page, UI_MESSAGES);
    },
  };
}
