import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import {
  documentedEmpty,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "./gate.ts";
import { ignoredBody } from "./request-readers.ts";

const documentation: Documentation = {
  summary: "Stop the active run",
  description:
    "The open stream ends with an error line of code cancelled; what was streamed stays in the history. No body.",
  credential: "visitorToken",
  params: threadParam,
  query: {},
  headers: originHeader,
  body: null,
  answers: {
    204: documentedEmpty("Nothing runs in the thread now"),
    ...widgetRefusals(["unauthorized", "forbidden", "not-found", "too-large", "unavailable"]),
  },
};

/** POST /v1/widget/threads/:id/cancel: stops the active run or pending call (contract, Stopping). */
export function widgetCancelRoute(dependencies: {
  gate: Gate;
  threads: Pick<Threads, "cancel">;
  config: Pick<Config, "limits">;
}): Route {
  const { gate, threads, config } = dependencies;
  return {
    method: "POST",
    path: "/v1/widget/threads/:id/cancel",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { uid } = await gate.admitToThread(incoming, {
        counts: [],
        read: ignoredBody(config.limits.maxBodyBytes),
        threadName: () => incoming.params["id"] ?? "",
        loads: null,
      });
      await threads.cancel(uid);
      return emptyAnswer(204);
    },
  };
}
