import type { z } from "zod";
import { RUN_ID_HEADER } from "../stream/stream-answer.ts";
import type { AnswerDocumentation } from "../route.ts";

/** The documentation of an answer, by its kind. */

/** A stream of lines; `schema` and `example` are those of one. */
export function documentedLines(
  description: string,
  schema: z.ZodType,
  example: unknown,
): AnswerDocumentation {
  return {
    description,
    headers: {
      "content-encoding": "gzip, where the request accepts it",
      [RUN_ID_HEADER]: "The run that the stream tells of",
    },
    body: { type: "application/x-ndjson", schema, example },
  };
}

/** An answer without a body. */
export function documentedEmpty(description: string): AnswerDocumentation {
  return { description, headers: {}, body: null };
}

export function documentedJson(
  description: string,
  schema: z.ZodType,
  example: unknown,
): AnswerDocumentation {
  return { description, headers: {}, body: { type: "application/json", schema, example } };
}
