import { z } from "zod";
import type { AnswerDocumentation } from "../route.ts";
import { RUN_ID_HEADER } from "../stream/stream-answer.ts";

/** A UI message stream; the schema and the example are those of one frame. */
export function documentedFrames(description: string): AnswerDocumentation {
  return {
    description: `${description}: server-sent events, a frame in the data of each, closed by [DONE]`,
    headers: {
      "x-vercel-ai-ui-message-stream": "v1",
      "content-encoding": "gzip, where the request accepts it",
      [RUN_ID_HEADER]: "The run that the stream tells of",
    },
    body: {
      type: "text/event-stream",
      schema: z.looseObject({ type: z.string() }),
      example: { type: "text-delta", id: "text-1", delta: "It is on its way." },
    },
  };
}
