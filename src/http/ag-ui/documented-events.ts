import { z } from "zod";
import type { AnswerDocumentation } from "../route.ts";
import { RUN_ID_HEADER } from "../stream/stream-answer.ts";

/** A stream of AG-UI's events; the schema and the example are those of one. */
export function documentedEvents(description: string): AnswerDocumentation {
  return {
    description: `${description}: server-sent events, from RUN_STARTED to RUN_FINISHED or RUN_ERROR`,
    headers: {
      "content-encoding": "gzip, where the request accepts it",
      [RUN_ID_HEADER]: "The service's run that the stream tells of",
    },
    body: {
      type: "text/event-stream",
      schema: z.looseObject({ type: z.string() }),
      example: {
        type: "TEXT_MESSAGE_CONTENT",
        messageId: "fJ0bqXz1nUO5o6pVh2xkSA",
        delta: "It is on its way.",
      },
    },
  };
}
