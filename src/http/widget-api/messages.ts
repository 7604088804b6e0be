import { z } from "zod";
import type { Config } from "../../config.ts";
import {
  documentedLines,
  BODY_REFUSALS,
  originHeader,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import {
  attachmentList,
  clientMessageId,
  contextMap,
  localeTag,
  messageText,
  pagePath,
  widgetThreadId,
} from "../fields.ts";
import { widgetLine } from "../../protocol/lines.ts";
import { streamAnswer } from "../stream/stream-answer.ts";
import type { Documentation, Route } from "../route.ts";
import { asMessage } from "./gate.ts";
import type { Gate } from "./gate.ts";
import { jsonBody } from "./request-readers.ts";
import type { VisitorMessages } from "./visitor-message.ts";

const bodySchema = z.object({
  threadId: widgetThreadId,
  text: messageText.describe("At most WIDGET_MAX_TEXT_CHARS characters (2000), else 413"),
  clientMessageId: clientMessageId
    .optional()
    .describe("The page's own id of this message: a repeat gets its run's stream, and says nothing new"),
  attachments: attachmentList
    .optional()
    .describe("Images, where the channel's agent.images allows them, together within WIDGET_MAX_BODY_BYTES"),
  page: pagePath.optional().describe("The visitor's pathname and search"),
  customerContext: contextMap
    .optional()
    .describe("What the page says of its visitor, a flat map; its JSON has the limit of text, else 413"),
  locale: localeTag.optional().describe("The page's language, for this message, for example de-CH"),
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
    schema: bodySchema,
    example: {
      threadId: "bkQmzpTqyiWfXH2uJ3dVxw",
      text: "Where is my order?",
      page: "/orders?id=7",
      customerContext: { plan: "pro", seats: 3 },
    },
  },
  answers: {
    200: documentedLines(
      "One JSON object per line; the last one is a tool_call, done or error line",
      widgetLine,
      {
        type: "delta",
        text: "It is on its way.",
      },
    ),
    ...widgetRefusals(BODY_REFUSALS),
  },
};

/** POST /v1/widget/messages: a visitor's message, and the reply as a stream. */
export function widgetMessagesRoute({
  gate,
  messages,
  config,
}: {
  gate: Gate;
  messages: VisitorMessages;
  config: Pick<Config, "limits">;
}): Route {
  const { mustBeMessage } = messages;
  const read = jsonBody({ schema: bodySchema, check: mustBeMessage }, config.limits.maxBodyBytes);

  return {
    method: "POST",
    path: "/v1/widget/messages",
    api: "widget",
    documentation,
    async handle(incoming) {
      const visit = await gate.admitToThread(incoming, { ...asMessage, read, loads: "to-say" });
      return streamAnswer(await messages.say(incoming, visit, visit.body), incoming.request);
    },
  };
}
