import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { Message } from "../../domain/message.ts";
import { attempt, parseWith } from "../body.ts";
import {
  documentedJson,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { stepSchema } from "../reference/line-schemas.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "./gate.ts";

/** Messages in a page of history without a `limit` (the spec, Limits). */
const PAGE_MESSAGES = 10;
const PAGE_MESSAGES_MAX = 100;

const limitText = z
  .string()
  .regex(/^\d{1,3}$/)
  .transform(Number)
  .refine((limit) => limit >= 1 && limit <= PAGE_MESSAGES_MAX);

const query = z.object({
  limit: limitText.default(PAGE_MESSAGES),
  before: z.string().nullable().default(null),
});

const item = z.object({
  id: z.string(),
  role: z.enum(["user", "assistant"]),
  content: z.string(),
  createdAt: z.int().describe("Unix time in milliseconds"),
  clientMessageId: z.string().optional().describe("Only on a user's message that came with one"),
  steps: z.array(stepSchema).optional().describe("Only on a reply that used tools"),
  model: z.string().optional().describe("Only on a reply of a chain of models: who answered, PROVIDER/MODEL"),
  error: z
    .object({ message: z.string(), code: z.string().optional() })
    .optional()
    .describe("Only on the reply of a run that failed; where it said nothing, `content` is this message"),
});

const documentation: Documentation = {
  summary: "Read a thread's history",
  description: "The last messages, oldest first. A reply in progress is not among them.",
  credential: "visitorToken",
  params: threadParam,
  query: {
    limit: {
      description: "How many messages at most",
      schema: z.int().min(1).max(PAGE_MESSAGES_MAX).default(PAGE_MESSAGES),
      required: false,
      example: PAGE_MESSAGES,
    },
    before: {
      description: "Only messages older than this one; an unknown id gives an empty list",
      schema: z.string(),
      required: false,
      example: "12",
    },
  },
  headers: originHeader,
  body: null,
  answers: {
    200: documentedJson("The messages", z.object({ items: z.array(item) }), {
      items: [
        { id: "1", role: "user", content: "Where is my order?", createdAt: 1_800_000_000_000 },
        {
          id: "2",
          role: "assistant",
          content: "It is on its way.",
          createdAt: 1_800_000_002_000,
          steps: [{ id: "find_order", phase: "done", text: "Looking for the order" }],
        },
      ],
    }),
    ...widgetRefusals(["unauthorized", "forbidden", "not-found", "too-large", "invalid", "unavailable"]),
  },
};

/** GET /v1/widget/threads/:id/messages: the latest messages, oldest first. */
export function historyRoute({ gate, threads }: { gate: Gate; threads: Pick<Threads, "history"> }): Route {
  return {
    method: "GET",
    path: "/v1/widget/threads/:id/messages",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { body: page, uid } = await gate.admitToThread(incoming, {
        counts: [],
        read: async ({ query: text }) =>
          attempt(() => parseWith(query, Object.fromEntries(new URLSearchParams(text)))),
        threadName: () => incoming.params["id"] ?? "",
        loads: null,
      });
      const messages = await threads.history(uid, page);
      return jsonAnswer(200, { items: messages.map(clientMessage) });
    },
  };
}

/** A message without what is kept for the model and the inspector. */
function clientMessage({
  id,
  role,
  content,
  createdAtMs,
  clientMessageId,
  steps,
  model,
  error,
}: Message): z.infer<typeof item> {
  return {
    id,
    role,
    content,
    createdAt: createdAtMs,
    ...(clientMessageId === undefined ? {} : { clientMessageId }),
    ...(steps ? { steps } : {}),
    ...(model === undefined ? {} : { model }),
    ...(error ? { error } : {}),
  };
}
