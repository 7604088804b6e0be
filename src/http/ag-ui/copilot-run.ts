import { threadParam } from "../reference/shared-documentation.ts";
import type { Field, Route } from "../route.ts";
import { cancelRoute } from "../widget-api/cancel.ts";
import type { CancelDependencies } from "../widget-api/cancel.ts";
import { agentParam } from "./copilot-info.ts";
import { runRoute } from "./run.ts";
import type { RunDependencies } from "./run.ts";

/** POST /v1/widget/copilotkit/agent/:id/run: the same as POST /v1/widget/ag-ui. */
export function copilotRunRoute(dependencies: RunDependencies): Route {
  return runRoute(dependencies, {
    path: "/v1/widget/copilotkit/agent/:id/run",
    summary: "CopilotKit: send a message, or a tool's output, and stream the reply",
    params: agentParam,
  });
}

const stopParams: Record<string, Field> = {
  ...agentParam,
  ...(threadParam["id"] ? { threadId: threadParam["id"] } : {}),
};

/** POST /v1/widget/copilotkit/agent/:id/stop/:threadId. */
export function copilotStopRoute(dependencies: CancelDependencies): Route {
  return cancelRoute(dependencies, {
    path: "/v1/widget/copilotkit/agent/:id/stop/:threadId",
    summary: "CopilotKit: stop the reply",
    description: "The run that goes on ends, and its stream; what was streamed stays. A body is ignored.",
    params: stopParams,
    threadName: "threadId",
    namesRun: false,
  });
}
