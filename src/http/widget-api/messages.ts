import { z } from "zod";
import { endpoint } from "../endpoint.ts";
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
import { documentedLines } from "../reference/shared-documentation.ts";
import { streamAnswer } from "../stream/stream-answer.ts";
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

/** POST /v1/widget/messages: a visitor's message, and the reply as a stream. */
export function widgetMessages({ messages }: { messages: VisitorMessages }) {
  return [
    endpoint({
      method: "POST",
      path: "/v1/widget/messages",
      credential: "visitorToken",
      rate: "messages",
      finds: "threadOfBody",
      loads: "to-say",
      summary: "Send a message and stream the reply",
      description:
        "A message while a run is active waits its turn; one while a tool_call is pending ends that call and starts a new run.",
      body: {
        schema: bodySchema,
        example: {
          threadId: "bkQmzpTqyiWfXH2uJ3dVxw",
          text: "Where is my order?",
          page: "/orders?id=7",
          customerContext: { plan: "pro", seats: 3 },
        },
        check: messages.mustBeMessage,
      },
      answers: {
        200: documentedLines(
          "One JSON object per line; the last one is a tool_call, done or error line",
          widgetLine,
          { type: "delta", text: "It is on its way." },
        ),
      },
      handle: async (asked) => streamAnswer(await messages.say(asked, asked.body), asked.request),
    }),
  ];
}
