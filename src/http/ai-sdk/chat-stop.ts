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
import type { Gate } from "../widget-api/gate.ts";
import { ignoredBody } from "../widget-api/request-readers.ts";

const documentation: Documentation = {
  summary: "AI SDK: stop the reply",
  description:
    "`stop()` of useChat only closes the connection, and the run goes on: this ends it. What was streamed stays. No body.",
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

/** POST /v1/widget/ai-sdk/chat/:id/stop: stops the active run or pending call. */
export function chatStopRoute({
  gate,
  threads,
  config,
}: {
  gate: Gate;
  threads: Pick<Threads, "cancel">;
  config: Pick<Config, "limits">;
}): Route {
  return {
    method: "POST",
    path: "/v1/widget/ai-sdk/chat/:id/stop",
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
