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
import { inPath } from "./gate.ts";
import type { Gate } from "./gate.ts";
import { ignoredBody } from "./request-readers.ts";

export interface CancelDependencies {
  gate: Gate;
  threads: Pick<Threads, "cancel">;
  config: Pick<Config, "limits">;
}

/** A front end's endpoint for it, and its documentation; `threadName` is the path parameter that names the thread. */
export interface CancelEntrance extends Pick<Documentation, "summary" | "description" | "params"> {
  path: string;
  threadName: string;
}

/** POST /v1/widget/threads/:id/cancel. */
export function widgetCancelRoute(dependencies: CancelDependencies): Route {
  return cancelRoute(dependencies, {
    path: "/v1/widget/threads/:id/cancel",
    summary: "Stop the active run",
    description:
      "The open stream ends with an error line of code cancelled; what was streamed stays in the history. No body.",
    params: threadParam,
    threadName: "id",
  });
}

/** Stops the active run or pending call of a visitor's thread (contract, Stopping). */
export function cancelRoute(
  { gate, threads, config }: CancelDependencies,
  { path, threadName, ...words }: CancelEntrance,
): Route {
  return {
    method: "POST",
    path,
    api: "widget",
    documentation: {
      ...words,
      credential: "visitorToken",
      query: {},
      headers: originHeader,
      body: null,
      answers: {
        204: documentedEmpty("Nothing runs in the thread now"),
        ...widgetRefusals(["unauthorized", "forbidden", "not-found", "too-large", "unavailable"]),
      },
    },
    async handle(incoming) {
      const { uid } = await gate.admitToThread(incoming, {
        counts: [],
        read: ignoredBody(config.limits.maxBodyBytes),
        threadName: inPath(incoming, threadName),
        loads: null,
      });
      await threads.cancel(uid);
      return emptyAnswer(204);
    },
  };
}
