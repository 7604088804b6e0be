import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import { Refusal } from "../../domain/refusal.ts";
import { resultText } from "../../domain/tool-text.ts";
import {
  documentedLines,
  BODY_REFUSALS,
  originHeader,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { pagePath, widgetThreadId } from "../fields.ts";
import { widgetLine } from "../../protocol/lines.ts";
import { streamAnswer } from "../stream/stream-answer.ts";
import type { Documentation, Route } from "../route.ts";
import { asToolResult } from "./gate.ts";
import type { Gate } from "./gate.ts";
import { jsonBody } from "./request-readers.ts";

const fields = z.object({
  threadId: widgetThreadId,
  callId: z.string().describe("Of the tool_call line that is answered"),
  tool: z.string().describe("Of that line"),
  result: z
    .unknown()
    .refine((result) => result !== undefined)
    .describe("An MCP-style object, a string, or other JSON; its text is kept, up to 4000 characters"),
  isError: z.boolean().default(false),
  page: pagePath.optional().describe("Where the visitor is now: a tool may have navigated"),
});

const bodySchema = fields.transform(({ result, ...rest }) => ({ ...rest, text: toolResultText(result) }));

const documentation: Documentation = {
  summary: "Answer a tool_call and resume the run",
  description:
    "The first result wins. A repeat for the call that was answered last re-attaches to the stream that the first one opened.",
  credential: "visitorToken",
  params: {},
  query: {},
  headers: originHeader,
  body: {
    schema: fields,
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
    ...widgetRefusals([...BODY_REFUSALS, "conflict"], {
      conflict: "Not the thread's pending call: unknown, answered, superseded, or of another tool",
    }),
  },
};

/** POST /v1/widget/tool-results: answers a tool_call line, and streams the rest of the run. */
export function toolResultsRoute(dependencies: {
  gate: Gate;
  threads: Pick<Threads, "answer">;
  config: Pick<Config, "limits">;
}): Route {
  const { gate, threads, config } = dependencies;
  const read = jsonBody({ schema: bodySchema }, config.limits.maxBodyBytes);

  return {
    method: "POST",
    path: "/v1/widget/tool-results",
    api: "widget",
    documentation,
    async handle(incoming) {
      const visit = await gate.admitToThread(incoming, {
        ...asToolResult,
        read,
        threadName: ({ threadId }) => threadId,
        loads: "last-in-parts",
      });
      const { slug, uid, loading } = visit;
      const { callId, tool, text, isError, page = null } = visit.body;
      const { traceparent } = incoming;
      const reply = await threads.answer(
        { uid, slug, callId, tool, text, isError, page, traceparent },
        loading,
      );
      incoming.note({ runId: reply.runId });
      return streamAnswer(reply, incoming.request);
    },
  };
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
