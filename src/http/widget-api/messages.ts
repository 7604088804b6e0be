import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import { lines, OF_A_BODY, originHeader, widgetRefusals } from "../reference/documented.ts";
import { clientMessageId, messageText, mustFit, page, widgetThreadId } from "../fields.ts";
import { widgetLine } from "../reference/line-schemas.ts";
import { streamAnswer } from "../stream/lines.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "./gate.ts";
import { asMessage, jsonBody } from "./reading.ts";

const body = z.object({
  threadId: widgetThreadId,
  text: messageText.describe("At most WIDGET_MAX_TEXT_CHARS characters (2000), else 413"),
  clientMessageId: clientMessageId
    .optional()
    .describe("The page's own id of this message: a repeat gets its run's stream, and says nothing new"),
  page: page.optional().describe("The visitor's pathname and search"),
  customerContext: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe("What the page says of its visitor, a flat map; its JSON has the limit of text, else 413"),
});

const documentation: Documentation = {
  summary: "Send a message and stream the reply",
  description:
    "A message while a run is active waits its turn; one while a tool_call is pending ends that call and starts a new run.",
  credential: "visitorToken",
  params: {},
  query: {},
  headers: originHeader,
  body: {
    schema: body,
    example: {
      threadId: "bkQmzpTqyiWfXH2uJ3dVxw",
      text: "Where is my order?",
      page: "/orders?id=7",
      customerContext: { plan: "pro", seats: 3 },
    },
  },
  answers: {
    200: lines("One JSON object per line; the last one is a tool_call, done or error line", widgetLine, {
      type: "delta",
      text: "It is on its way.",
    }),
    ...widgetRefusals(OF_A_BODY),
  },
};

/** POST /v1/widget/messages: a visitor's message, and the reply as a stream. */
export function messagesRoute(parts: {
  gate: Gate;
  threads: Pick<Threads, "say">;
  config: Pick<Config, "limits">;
}): Route {
  const { gate, threads, config } = parts;
  const { maxTextChars, maxBodyBytes } = config.limits;

  function mustBeShort({ text, customerContext }: z.infer<typeof body>): void {
    mustFit(text, maxTextChars);
    if (customerContext) mustFit(customerContext, maxTextChars);
  }

  const readSaid = jsonBody({ schema: body, check: mustBeShort }, maxBodyBytes);

  return {
    method: "POST",
    path: "/v1/widget/messages",
    api: "widget",
    documentation,
    async handle(asked) {
      const {
        slug,
        user,
        body: said,
        uid,
        loading,
      } = await gate.admitToThread(asked, {
        ...asMessage,
        read: readSaid,
        loads: "active",
      });
      const reply = await threads.say(
        {
          uid,
          slug,
          api: "widget",
          userId: user.userId,
          speaker: {
            displayName: user.displayName,
            page: said.page ?? null,
            customerContext: said.customerContext ?? null,
          },
          text: said.text,
          clientMessageId: said.clientMessageId ?? null,
          traceparent: asked.traceparent,
        },
        loading,
      );
      asked.note({ runId: reply.runId });
      return streamAnswer(reply, asked.request);
    },
  };
}
