import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import { commentMustFit, feedbackBody, givenBy } from "../fields.ts";
import {
  BODY_REFUSALS,
  documentedEmpty,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { asRating, inPath } from "./gate.ts";
import type { Gate } from "./gate.ts";
import { jsonBody } from "./request-readers.ts";

const documentation: Documentation = {
  summary: "Rate a reply",
  description:
    "The latest rating of a reply counts, and is part of its item in the history. A run in progress does not notice.",
  credential: "visitorToken",
  params: threadParam,
  query: {},
  headers: originHeader,
  body: { schema: feedbackBody, example: { messageId: "2", rating: "down", comment: "Wrong address" } },
  answers: {
    204: documentedEmpty("It is stored"),
    ...widgetRefusals(BODY_REFUSALS, {
      "not-found": "Not the visitor's thread, or no reply of the assistant in it",
    }),
  },
};

/** POST /v1/widget/threads/:id/feedback: the visitor rates a reply. */
export function feedbackRoute({
  gate,
  threads,
  config,
}: {
  gate: Gate;
  threads: Pick<Threads, "rate">;
  config: Pick<Config, "limits">;
}): Route {
  const read = jsonBody({ schema: feedbackBody, check: commentMustFit }, config.limits.maxBodyBytes);
  return {
    method: "POST",
    path: "/v1/widget/threads/:id/feedback",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { slug, uid, body } = await gate.admitToThread(incoming, {
        ...asRating,
        read,
        threadName: inPath(incoming),
        loads: null,
      });
      await threads.rate({ uid, slug, ...givenBy(body) });
      return emptyAnswer(204);
    },
  };
}
