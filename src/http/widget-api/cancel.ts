import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import { nothing, originHeader, threadParam, widgetRefusals } from "../reference/documented.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "./gate.ts";
import { noBody } from "./reading.ts";

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
    204: nothing("Nothing runs in the thread now"),
    ...widgetRefusals(["unauthorized", "forbidden", "not-found", "too-large", "unavailable"]),
  },
};

/** POST /v1/widget/threads/:id/cancel: stops the active run or pending call (contract, Stopping). */
export function cancelRoute(parts: {
  gate: Gate;
  threads: Pick<Threads, "cancel">;
  config: Pick<Config, "limits">;
}): Route {
  const { gate, threads, config } = parts;
  return {
    method: "POST",
    path: "/v1/widget/threads/:id/cancel",
    api: "widget",
    documentation,
    async handle(asked) {
      const { uid } = await gate.admitToThread(asked, {
        counts: [],
        read: noBody(config.limits.maxBodyBytes),
        threadName: () => asked.params["id"] ?? "",
        loads: null,
      });
      await threads.cancel(uid);
      return emptyAnswer(204);
    },
  };
}
