import { z } from "zod";
import type { RefusalReason } from "../../domain/refusal.ts";
import { statusOf } from "../route.ts";
import { RUN_ID_HEADER } from "../stream/stream-answer.ts";
import type { AnswerDocumentation, Field } from "../route.ts";

/** Documentation that several endpoints share. */
type Descriptions = Partial<Record<RefusalReason, string>>;

const WIDGET: Descriptions = {
  unauthorized: "Missing, unknown or expired x-visitor-token: create a new visitor",
  forbidden: "Origin not allowed, channel disabled, visitor not allowed, or address blocked",
  "not-found": "The thread does not exist or belongs to another visitor",
  "too-large": "Over a limit: the body's length, the text, the customerContext or the catalog",
  "unsupported-encoding": "The body has a content-encoding",
  invalid: "The request does not match the schema",
  "rate-limited": "A rate limit was exceeded",
  unavailable: "The store cannot be reached",
};

const SERVER: Descriptions = {
  unauthorized: "Wrong or missing key",
  forbidden:
    "The user is not allowed: blocked, not whitelisted in whitelist mode, or the channel is disabled",
  "too-large": "The body is longer than SERVER_MAX_BODY_BYTES",
  "unsupported-encoding": "The body has a content-encoding",
  invalid: "The body does not match the schema",
  unavailable: "The store cannot be reached",
};

/** Why a POST whose body names a thread may be refused. */
export const BODY_REFUSALS: readonly RefusalReason[] = [
  "unauthorized",
  "forbidden",
  "not-found",
  "too-large",
  "unsupported-encoding",
  "invalid",
  "rate-limited",
  "unavailable",
];

/** Refusals of the widget API: no bodies. */
export function widgetRefusals(
  reasons: readonly RefusalReason[],
  own: Descriptions = {},
): Record<number, AnswerDocumentation> {
  return refusals(reasons, { ...WIDGET, ...own }, () => null);
}

/** Refusals of the server API: one short line of text, except 403 and 503. */
const LIMITED = ["rate-limited"] as const;

export function serverRefusals(
  reasons: readonly RefusalReason[],
  own: Descriptions = {},
): Record<number, AnswerDocumentation> {
  // Where a key is asked for, wrong ones are counted.
  const all = new Set<RefusalReason>([...reasons, ...(reasons.includes("unauthorized") ? LIMITED : [])]);
  return refusals([...all], { ...SERVER, ...own }, (reason, description) =>
    reason === "forbidden" || reason === "unavailable"
      ? null
      : {
          type: "text/plain; charset=utf-8",
          schema: z.string(),
          example: reason === "unauthorized" ? "Unauthorized" : description,
        },
  );
}

function refusals(
  reasons: readonly RefusalReason[],
  descriptions: Descriptions,
  body: (reason: RefusalReason, description: string) => AnswerDocumentation["body"],
): Record<number, AnswerDocumentation> {
  return Object.fromEntries(
    reasons.map((reason) => {
      const description = descriptions[reason] ?? reason;
      const waits = reason === "rate-limited" || reason === "unavailable";
      const headers: Record<string, string> = waits
        ? { "retry-after": "Whole seconds until it is worth asking again" }
        : {};
      return [statusOf(reason), { description, headers, body: body(reason, description) }];
    }),
  );
}

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

/** The Origin header that browsers send by themselves. */
export const originHeader: Record<string, Field> = {
  origin: {
    description: "Set by the browser; one of the channel's allowed origins",
    schema: z.string(),
    required: true,
    example: "https://shop.example",
  },
};

/** The `:id` of a thread in a path. */
export const threadParam: Record<string, Field> = {
  id: {
    description: "A thread of this visitor",
    schema: z.string(),
    required: true,
    example: "bkQmzpTqyiWfXH2uJ3dVxw",
  },
};
