import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import {
  documentedEmpty,
  BODY_REFUSALS,
  originHeader,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { mustFit, widgetThreadId } from "../fields.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { asMessage } from "./gate.ts";
import type { Gate } from "./gate.ts";
import { jsonBody } from "./request-readers.ts";

/** More than any tool needs: the schema is walked again, often. */
const MAX_DEPTH = 32;
const MAX_ENTRIES = 2_000;

const properties = z.record(z.string(), z.unknown()).refine(isModest);

const pageTool = z.object({
  name: z.string().min(1),
  description: z.string().exactOptional(),
  inputSchema: z
    .object({
      type: z.literal("object"),
      properties: properties.exactOptional(),
      required: z.array(z.string()).max(100).exactOptional(),
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
  description: "Replaces the thread's catalog. Fields outside the schema are dropped before it is measured.",
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
    { schema: bodySchema, check: ({ webmcpTools }) => mustFit(webmcpTools, maxCatalogChars) },
    maxBodyBytes,
  );

  return {
    method: "POST",
    path: "/v1/widget/tools",
    api: "widget",
    documentation,
    async handle(incoming) {
      const visit = await gate.admitToThread(incoming, { ...asMessage, read, loads: null });
      await threads.setCatalog(visit.uid, visit.slug, visit.body.webmcpTools);
      return emptyAnswer(204);
    },
  };
}

/** Within the depth and the number of entries? Walks level by level: recursion could overflow the call stack. */
function isModest(value: unknown): boolean {
  let level = [value];
  let entries = 0;
  for (let depth = 0; level.length > 0; depth++) {
    const objects = level.filter((part): part is object => typeof part === "object" && part !== null);
    if (objects.length > 0 && depth >= MAX_DEPTH) return false;
    level = objects.flatMap((part): unknown[] => Object.values(part));
    entries += level.length;
    if (entries > MAX_ENTRIES) return false;
  }
  return true;
}
