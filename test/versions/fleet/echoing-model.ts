import { lastUserText, startModelServer } from "../../support/servers/model-server.ts";
import type { ModelServer, ModelServerRequest } from "../../support/servers/model-server.ts";

/** The model that the conversations go on with: it says what it was told last, or what the run's tools have answered. */
export function startEchoingModel(): Promise<ModelServer> {
  return startModelServer((request) => {
    const results = toolResults(request);
    return results.length > 0
      ? `The tools said: ${results.join(" | ")}`
      : `You said: ${lastUserText(request)}`;
  });
}

/** What the tools have answered since the user spoke last. */
function toolResults({ body: { messages } }: ModelServerRequest): string[] {
  const said = messages.findLastIndex(({ role }) => role === "user");
  return messages
    .slice(said + 1)
    .flatMap(({ role, content }) => (role === "tool" && typeof content === "string" ? [content] : []));
}

/** What was said before, as the model was told it: everything but its instructions, results and empty texts. */
export function toldHistory({ body: { messages } }: ModelServerRequest): string[] {
  return messages.flatMap(({ role, content }) =>
    (role === "user" || role === "assistant") && typeof content === "string" && content !== ""
      ? [content]
      : [],
  );
}

export function toldInstructions({ body: { messages } }: ModelServerRequest): string {
  return messages
    .flatMap(({ role, content }) => (role === "system" && typeof content === "string" ? [content] : []))
    .join("\n");
}
