import { z } from "zod";
import type { ThreadContext } from "../../machines/thread.ts";
import type { VisitorContext } from "../../machines/visitor.ts";

/** Parses the charts' contexts as they come from the store; throws if the shape does not fit. */

/** Checked but not copied: a copy would lose a key such as `__proto__`, which a page may use. */
const jsonObject = z.custom<Record<string, unknown>>((value) => isObject(value));
const counts = z.custom<Record<string, number>>(
  (value) => isObject(value) && Object.values(value).every((count) => typeof count === "number"),
);

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const usage = z.object({ input: z.number(), output: z.number() }).nullable();

const call = z.object({
  callId: z.string(),
  kind: z.enum(["page", "server"]),
  tool: z.string(),
  server: z.string().exactOptional(),
  arguments: jsonObject,
  progress: z.string(),
  repeatable: z.boolean(),
  readOnly: z.literal(true).exactOptional(),
  confirm: z.enum(["visitor", "operator"]).exactOptional(),
  use: z.number().exactOptional(),
});

const person = z.object({
  askedBy: z.enum(["model", "visitor", "transport"]).nullable(),
  reason: z.string().nullable(),
  summary: z.string().nullable(),
  queue: z.string().exactOptional(),
  beganMs: z.number().exactOptional(),
  sinceMs: z.number(),
  deadlineMs: z.number().nullable(),
  name: z.string().nullable(),
  shownAs: z.string().exactOptional(),
  takeId: z.string().nullable(),
  said: z.number(),
});

const handedBack = z.object({
  name: z.string(),
  how: z.enum(["returned", "closed"]),
  note: z.string().nullable(),
});

export const threadContext: z.ZodType<ThreadContext> = z.object({
  version: z.number(),
  run: z
    .object({
      id: z.string(),
      saidAtMs: z.number(),
      limits: z.object({ toolCalls: z.number(), toolResultMs: z.number() }),
      attempt: z.number(),
      misses: z.number(),
      calls: z.array(call),
      uses: counts,
      toolCalls: z.number(),
      deadlineMs: z.number().nullable(),
      hint: z.string().nullable(),
      usage,
      unasked: z.literal(true).exactOptional(),
      steered: z.literal(true).exactOptional(),
    })
    .nullable(),
  usage,
  epoch: z.number(),
  answererSinceMs: z.number().nullable(),
  person: person.nullable(),
  handedBack: handedBack.nullable(),
});

export const visitorContext: z.ZodType<VisitorContext> = z.object({
  version: z.number(),
  externalId: z.string().nullable(),
});

export const readThreadContext = (stored: unknown): ThreadContext => threadContext.parse(stored);
export const readVisitorContext = (stored: unknown): VisitorContext => visitorContext.parse(stored);
