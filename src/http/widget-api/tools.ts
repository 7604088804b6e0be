import { z } from "zod";
import type { NewCatalog } from "../../threads/say/answer.ts";
import type { Threads } from "../../threads/threads.ts";
import type { AdmittedVisitor } from "../../admission/widget-admission.ts";
import type { Config } from "../../config.ts";
import type { Catalog } from "../../domain/threads/message.ts";
import { nameMap } from "../../domain/name-map.ts";
import { offerableTools } from "../../domain/channels/offerable-tools.ts";
import type { PageTool } from "../../domain/channels/page-tool.ts";
import { Refusal } from "../../domain/refusal.ts";
import { resultText } from "../../domain/channels/tool-text.ts";
import { endpoint, RATES } from "../endpoint.ts";
import { decisionBody, EXAMPLE_DECISION, mustFit, NOT_WAITING, pagePath, widgetThreadId } from "../fields.ts";
import { widgetLine } from "../../protocol/lines.ts";
import { documentedLines } from "../reference/shared-documentation.ts";
import { emptyAnswer } from "../route.ts";
import { streamAnswer } from "../stream/stream-answer.ts";
import { droppedToolsHeader } from "./dropped-tools.ts";

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

const catalogSchema = z.object({
  threadId: widgetThreadId,
  webmcpTools: z
    .array(pageTool)
    .describe(
      "At most WIDGET_MAX_WEBMCP_TOOLS_CHARS characters (20000), else 413; empty: clears the catalog",
    ),
});

const resultSchema = z
  .object({
    threadId: widgetThreadId,
    callId: z.string().describe("Of the tool_call line that is answered"),
    tool: z.string().describe("Of that line"),
    result: z
      .unknown()
      .refine((result) => result !== undefined)
      .describe("An MCP-style object, a string, or other JSON; its text is kept, up to 4000 characters"),
    isError: z.boolean().default(false),
    page: pagePath.optional().describe("Where the visitor is now: a tool may have navigated"),
  })
  .transform(({ result, ...rest }) => ({ ...rest, text: toolResultText(result) }));

/** POST /v1/widget/tools, /v1/widget/tool-results, …/threads/:id/approvals: the page's tools, what came of a call, and whether one may be made. */
export function widgetTools({
  threads,
  config,
}: {
  threads: Pick<Threads, "setCatalog" | "answer" | "approve">;
  config: Pick<Config, "limits">;
}) {
  return [
    endpoint({
      method: "POST",
      path: "/v1/widget/tools",
      credential: "visitorToken",
      rate: "messages",
      finds: "threadOfBody",
      summary: "Register the page's tools",
      description:
        "Replaces the thread's catalog. Fields outside the schema are dropped before it is measured. Tools that can never be offered to a model are dropped too, and named in x-dropped-tools.",
      body: {
        schema: catalogSchema,
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
        check: ({ webmcpTools }) => mustFitCatalog(webmcpTools, config.limits.maxCatalogChars),
      },
      answers: { 204: "The catalog is registered" },
      async handle({ caller: { slug }, thread, body }) {
        const { tools, dropped } = offerableTools(body.webmcpTools);
        await threads.setCatalog(thread.uid, slug, tools);
        return emptyAnswer(204, droppedToolsHeader(dropped));
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/widget/tool-results",
      credential: "visitorToken",
      rate: "toolResults",
      finds: "threadOfBody",
      loads: "last-in-parts",
      summary: "Answer a tool_call and resume the run",
      description:
        "The first result wins. A repeat for the call that was answered last re-attaches to the stream that the first one opened.",
      body: {
        schema: resultSchema,
        example: {
          threadId: "bkQmzpTqyiWfXH2uJ3dVxw",
          callId: "q8Jx0bq2SxmV5pS0gQ1k3A",
          tool: "add_to_cart",
          result: { content: [{ type: "text", text: "Added" }] },
        },
      },
      answers: {
        200: documentedLines("A new stream of the same line types", widgetLine, {
          type: "step",
          id: "add_to_cart",
          phase: "done",
          text: "Filling the cart",
        }),
      },
      refusals: {
        conflict: "Not the thread's pending call: unknown, answered, superseded, or of another tool",
      },
      async handle({ caller: { slug }, thread: { uid, loading }, body, request, traceparent, note }) {
        const { callId, tool, text, isError, page = null } = body;
        const reply = await threads.answer(
          { uid, slug, callId, tool, text, isError, page, traceparent },
          loading,
        );
        note({ runId: reply.runId });
        return streamAnswer(reply, request);
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/widget/threads/:id/approvals",
      credential: "visitorToken",
      rate: "toolResults",
      finds: "thread",
      summary: "Approve a call that waits for the visitor, or decline it",
      description:
        "The run goes on in the streams that are open. The first decision counts; the same once more changes nothing.",
      body: { schema: decisionBody, example: EXAMPLE_DECISION },
      answers: { 204: "The decision is stored" },
      refusals: NOT_WAITING,
      async handle({ caller: { slug }, thread: { uid }, body }) {
        await threads.approve({ uid, slug, ...body, by: "visitor" });
        return emptyAnswer(204);
      },
    }),
  ];
}

/** A catalog that comes with a tool's result: if it is a new one, the request counts like one of /tools as well. */
export function countedCatalog(
  { alsoCounts }: Pick<AdmittedVisitor, "alsoCounts">,
  tools: Catalog,
): NewCatalog {
  return { tools, mayReplace: () => alsoCounts(RATES.messages) };
}

/** Dropped tools count towards the limit; one that is nested too deeply to be serialized counts by its brackets. */
export function mustFitCatalog(catalog: readonly PageTool[], limitChars: number): void {
  const isDeep = (tool: PageTool) => offerableTools([tool]).droppedChars > 0;
  const { droppedChars } = offerableTools(catalog);
  mustFit(droppedChars === 0 ? catalog : catalog.filter((tool) => !isDeep(tool)), limitChars - droppedChars);
}

/**
 * Deeper than any tool's result, and too shallow to overflow the stack in any version of Node. From Node 26 on JSON of
 * any depth can be written: without a fixed number, the answer would depend on the version that runs the service.
 */
const MAX_DEPTH = 2_000;

/**
 * The text that is kept of a page tool's result. Throws Refusal("invalid") if it is nested too deeply to be serialized.
 */
export function toolResultText(result: unknown): string {
  if (isDeeperThan(MAX_DEPTH, result)) throw new Refusal("invalid");
  return resultText(result);
}

/** Not recursive, for the same reason. */
function isDeeperThan(limit: number, value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= limit && level.length > 0; depth++) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return level.length > 0;
}
