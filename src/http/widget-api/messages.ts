import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import {
  attachmentList,
  clientMessageId,
  contextMap,
  fileIds,
  localeTag,
  NO_BRANCH,
  pagePath,
  repliedItem,
  replacedItem,
  saysSomething,
  textWithFiles,
  widgetThreadId,
} from "../fields.ts";
import { widgetLine } from "../../protocol/lines.ts";
import { documentedLines } from "../reference/shared-documentation.ts";
import { streamAnswer } from "../stream/stream-answer.ts";
import type { VisitorMessages } from "./visitor-message.ts";

const bodySchema = z.object({
  threadId: widgetThreadId,
  text: textWithFiles.describe(
    "At most WIDGET_MAX_TEXT_CHARS characters (2000), else 413; empty only with files",
  ),
  clientMessageId: clientMessageId
    .optional()
    .describe("The page's own id of this message: a repeat gets its run's stream, and says nothing new"),
  attachments: attachmentList
    .optional()
    .describe("Images, where the channel's agent.images allows them, together within WIDGET_MAX_BODY_BYTES"),
  files: fileIds,
  page: pagePath.optional().describe("The visitor's pathname and search"),
  customerContext: contextMap
    .optional()
    .describe("What the page says of its visitor, a flat map; its JSON has the limit of text, else 413"),
  locale: localeTag.optional().describe("The page's language, for this message, for example de-CH"),
  replaces: replacedItem,
});

const againSchema = z.object({
  messageId: repliedItem,
  ...bodySchema.pick({ clientMessageId: true, page: true, customerContext: true, locale: true }).shape,
});

/** POST /v1/widget/messages, /v1/widget/threads/:id/regenerate: a visitor's message, or another reply to it, as a stream. */
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
        schema: saysSomething(bodySchema),
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
      refusals: NO_BRANCH,
      handle: async (asked) => streamAnswer(await messages.say(asked, asked.body), asked.request),
    }),

    endpoint({
      method: "POST",
      path: "/v1/widget/threads/:id/regenerate",
      credential: "visitorToken",
      rate: "messages",
      finds: "thread",
      summary: "Have a message answered once more",
      description:
        "The reply, and what followed it, go into another branch; the message is answered anew, and its stream is the answer. A run that goes on ends as superseded.",
      body: { schema: againSchema, example: { messageId: "2" }, check: messages.mustFitContext },
      answers: {
        200: documentedLines("The new reply's stream", widgetLine, { type: "delta", text: "It is" }),
      },
      refusals: NO_BRANCH,
      handle: async (asked) => streamAnswer(await messages.answerAgain(asked, asked.body), asked.request),
    }),
  ];
}
