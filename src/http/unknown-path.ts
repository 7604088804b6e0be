import { Refusal } from "../domain/refusal.ts";
import type { HttpAnswer } from "../listener.ts";
import { refusalAnswer } from "./route.ts";

const MESSAGES = "send messages to POST /v1/messages";

/** What clients of other protocols ask for first, and what this service has instead. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ...["/v1/chat/completions", "/v1/responses", "/v1/completions", "/chat/completions"].map(
    (path) => [path, `Not found: this is no model server, ${MESSAGES}`] as const,
  ),
  ["/v1/models", `Not found: the models stand behind this service, ${MESSAGES}`],
  ...["/mcp", "/sse"].map(
    (path) => [path, `Not found: this service calls MCP servers and is none, ${MESSAGES}`] as const,
  ),
  ...["/.well-known/agent-card.json", "/.well-known/agent.json"].map(
    (path) =>
      [path, `Not found: no A2A here, ${MESSAGES}, or speak AG-UI with POST /v1/widget/ag-ui`] as const,
  ),
]);

/** The 404 of a path that no route has: empty for browsers' paths, else one short line (README, Error bodies). */
export function unknownPath(path: string): HttpAnswer {
  const isForBrowsers = path.startsWith("/v1/widget/") || path.startsWith("/widget/");
  return refusalAnswer(new Refusal("not-found", INSTEAD.get(path)), isForBrowsers ? "widget" : "server");
}
