import { emptyAnswer } from "./route.ts";
import type { Route } from "./route.ts";
import { widgetScriptAnswer } from "./widget-script.ts";
import type { WidgetScript } from "./widget-script.ts";

/** GET /widget/v1/chat-agent.js: the element, for every page of every origin. */
export function widgetRoute(files: WidgetScript): Route {
  return {
    method: "GET",
    path: "/widget/v1/*",
    api: "open",
    documentation: "hidden",
    handle: ({ request }) => Promise.resolve(widgetScriptAnswer(files, request) ?? emptyAnswer(404)),
  };
}
