import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import {
  documentedEmpty,
  BODY_REFUSALS,
  originHeader,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { nameMap } from "../../domain/name-map.ts";
import { offerableTools } from "../../domain/offerable-tools.ts";
import type { PageTool } from "../../domain/page-tool.ts";
import { mustFit, widgetThreadId } from "../fields.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { droppedToolsHeader } from "./dropped-tools.ts";
import { asMessage } from "./gate.ts";
import type { Gate } from "./gate.ts";
import { jsonBody } from "./request-readers.ts";

export const pageTool = z.object({
  name: z.string().min(1),
  description: z.string().exactOptional(),
  inputSchema: z
    .object({
      type: z.literal("object"),
      properties: nameMap(z.string(), z.unknown()).exactOptional(),
      required: z.array(z.string()).exactOptional(),
    })
    .exactOptional(),
});

const bodySchema = z.object({
  threadId: widgetThreadId,
  webmcpTools: z
    .array(pageTool)
    .describe(
      "At most WIDGET_MAX_WEBMCP_TOOLS_CHARS characters (20000), else 413; empty: clears the catalog",
    ),
});

const documentation: Documentation = {
  summary: "Register the page's tools",
  description:
    "Replaces the thread's catalog. Fields outside the schema are dropped before it is measured. Tools that can never be offered to a model are dropped too, and named in x-dropped-tools.",
  credential: "visitorToken",
  params: {},
  query: {},
  headers: originHeader,
  body: {
    schema: bodySchema,
    example: {
      threadId: "bkQmzpTqyiWfXH2uJ3dVxw",
      webmcpTools: [
        {
          name: "add_to_cart",
          description: "Puts a product into the cart",
          inputSchema: {
            type: "object",
            properties: { sku: { type: "string" } },
            required: ["sku"],
          },
        },
      ],
    },
  },
  answers: {
    204: documentedEmpty("The catalog is registered"),
    ...widgetRefusals(BODY_REFUSALS),
  },
};

/** POST /v1/widget/tools: the page's tools for a thread. */
export function toolsRoute(dependencies: {
  gate: Gate;
  threads: Pick<Threads, "setCatalog">;
  config: Pick<Config, "limits">;
}): Route {
  const { gate, threads, config } = dependencies;
  const { maxCatalogChars, maxBodyBytes } = config.limits;
  const read = jsonBody(
    { schema: bodySchema, check: ({ webmcpTools }) => mustFitCatalog(webmcpTools, maxCatalogChars) },
    maxBodyBytes,
  );

  return {
    method: "POST",
    path: "/v1/widget/tools",
    api: "widget",
    documentation,
    async handle(incoming) {
      const visit = await gate.admitToThread(incoming, { ...asMessage, read, loads: null });
      const { tools, dropped } = offerableTools(visit.body.webmcpTools);
      await threads.setCatalog(visit.uid, visit.slug, tools);
      return emptyAnswer(204, droppedToolsHeader(dropped));
    },
  };
}

/** Dropped tools count towards the limit; one that is nested too deeply to be serialized counts by its brackets. */
export function mustFitCatalog(catalog: readonly PageTool[], limitChars: number): void {
  const isDeep = (tool: PageTool) => offerableTools([tool]).droppedChars > 0;
  const { droppedChars } = offerableTools(catalog);
  mustFit(droppedChars === 0 ? catalog : catalog.filter((tool) => !isDeep(tool)), limitChars - droppedChars);
}
