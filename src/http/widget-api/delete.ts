import type { Threads } from "../../actors/threads.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { asVisitor, deleteThread } from "../../operators/forgetting.ts";
import type { OperatorStore } from "../../store.ts";
import {
  documentedEmpty,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { inPath } from "./gate.ts";
import type { Gate } from "./gate.ts";
import { ignoredBody } from "./request-readers.ts";

const documentation: Documentation = {
  summary: "Delete a thread",
  description:
    "With everything in it, for good: from now on it is 404. An open stream ends with an error line of code deleted. No body.",
  credential: "visitorToken",
  params: threadParam,
  query: {},
  headers: originHeader,
  body: null,
  answers: {
    204: documentedEmpty("It is deleted"),
    ...widgetRefusals(["unauthorized", "forbidden", "not-found", "too-large", "unavailable"]),
  },
};

/** POST /v1/widget/threads/:id/delete: deletes the visitor's thread (contract, Forgetting). */
export function widgetDeleteRoute(dependencies: {
  gate: Gate;
  threads: Pick<Threads, "forgetting">;
  store: Pick<OperatorStore, "appendAudit">;
  clock: Clock;
  config: Pick<Config, "limits">;
}): Route {
  const { gate, threads, store, clock, config } = dependencies;
  return {
    method: "POST",
    path: "/v1/widget/threads/:id/delete",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { slug, uid } = await gate.admitToThread(incoming, {
        counts: [],
        read: ignoredBody(config.limits.maxBodyBytes),
        threadName: inPath(incoming),
        loads: null,
      });
      await deleteThread(asVisitor({ store, clock }), threads.forgetting, slug, uid);
      return emptyAnswer(204);
    },
  };
}
