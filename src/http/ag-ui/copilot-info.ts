import { z } from "zod";
import { VERSION } from "../../version.ts";
import { documentedJson, originHeader, widgetRefusals } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Field, Route } from "../route.ts";
import { asRead } from "../widget-api/gate.ts";
import type { Gate } from "../widget-api/gate.ts";
import { noBody } from "../widget-api/request-readers.ts";

/** The only agent; in its requests a page may use any name. */
const AGENT = "default";

export const agentParam: Record<"id", Field> = {
  id: {
    description: "The agent's name in the page: there is one agent, whatever its name",
    schema: z.string(),
    required: true,
    example: AGENT,
  },
};

const INFO = {
  version: VERSION,
  agents: { [AGENT]: { name: AGENT, description: "Chat Agent Service", className: "HttpAgent" } },
  audioFileTranscriptionEnabled: false,
  mode: "sse",
};

const infoSchema = z.object({
  version: z.string(),
  agents: z.record(
    z.string(),
    z.object({ name: z.string(), description: z.string(), className: z.string() }),
  ),
  audioFileTranscriptionEnabled: z.literal(false),
  mode: z.literal("sse"),
});

const documentation: Documentation = {
  summary: "CopilotKit: what there is at this runtimeUrl",
  description: "What a CopilotKit page asks first. The same for every visitor.",
  credential: "visitorToken",
  params: {},
  query: {},
  headers: originHeader,
  body: null,
  answers: {
    200: documentedJson("One agent", infoSchema, INFO),
    ...widgetRefusals(["unauthorized", "forbidden", "too-large", "rate-limited", "unavailable"]),
  },
};

/** GET /v1/widget/copilotkit/info: the self-description that CopilotKit's own runtime sends. */
export function copilotInfoRoute({ gate }: { gate: Gate }): Route {
  return {
    method: "GET",
    path: "/v1/widget/copilotkit/info",
    api: "widget",
    documentation,
    async handle(incoming) {
      await gate.admitVisitor(incoming, { ...asRead, read: noBody });
      return jsonAnswer(200, INFO);
    },
  };
}
