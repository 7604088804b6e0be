import { threadParam } from "../reference/shared-documentation.ts";
import type { Route } from "../route.ts";
import { cancelRoute } from "../widget-api/cancel.ts";
import type { CancelDependencies } from "../widget-api/cancel.ts";

/** POST /v1/widget/ai-sdk/chat/:id/stop. */
export function chatStopRoute(dependencies: CancelDependencies): Route {
  return cancelRoute(dependencies, {
    path: "/v1/widget/ai-sdk/chat/:id/stop",
    summary: "AI SDK: stop the reply",
    description:
      "`stop()` of useChat only closes the connection, and the run goes on: this ends it. What was streamed stays. The body may be absent.",
    params: threadParam,
    threadName: "id",
    namesRun: true,
  });
}
