import { z } from "zod";
import { declaredType, MAX_ATTACHMENTS } from "../domain/threads/attachments.ts";
import { attributesField } from "../domain/people/attributes.ts";
import { agentFields } from "../domain/channels/channel-fields.ts";
import { nameMap } from "../domain/name-map.ts";
import type { Speaker } from "../domain/threads/message.ts";

/**
 * A recorded conversation, with the checks for its replay. Tools have the names that the model was offered. README.md
 * describes the fields.
 */
const name = z.string().min(1);
const schema = nameMap(z.string(), z.unknown());
const oneOrMore = z.union([name.transform((text) => [text]), z.array(name).min(1)]);

const wantedCall = z.union([
  name.transform((tool): { tool: string; arguments: Record<string, unknown> } => ({ tool, arguments: {} })),
  z.strictObject({ tool: name, arguments: schema.default({}) }),
]);

const checksSchema = z.strictObject({
  contains: oneOrMore.exactOptional(),
  calls: z.array(wantedCall).min(1).exactOptional(),
  notCalls: z.array(name).min(1).exactOptional(),
  maxTurns: z.int().min(1).exactOptional(),
  judge: oneOrMore.exactOptional(),
});

const values = nameMap(z.string(), z.union([z.string(), z.number(), z.boolean()]));

const visitorSchema = z.strictObject({
  displayName: z.string().exactOptional(),
  page: z.string().exactOptional(),
  customerContext: values.exactOptional(),
  locale: z.string().exactOptional(),
  attributes: values.exactOptional(),
});

const callSchema = z.strictObject({
  tool: name,
  /** A string: the beginning of the JSON, whose end is not known. */
  arguments: z.union([schema, z.string()]).default({}),
  /** null: the call was never answered. */
  result: z.string().nullable(),
  isError: z.boolean().exactOptional(),
});

/** An image of a message. */
const attachmentSchema = z.strictObject({
  url: z
    .string()
    .refine(
      (url) => declaredType(url) !== null || url.startsWith("https://"),
      "must be a data: URL of an image, or https",
    ),
  name: z.string().exactOptional(),
});

const exchangeSchema = z.strictObject({
  user: z.string(),
  attachments: z.array(attachmentSchema).max(MAX_ATTACHMENTS).exactOptional(),
  visitor: visitorSchema.exactOptional(),
  calls: z.array(callSchema).default([]),
  /** Absent: unknown, so it is not compared. */
  reply: z.string().exactOptional(),
  /** Why the recorded run failed. */
  error: z.string().exactOptional(),
  usage: z.strictObject({ input: z.int().min(0), output: z.int().min(0) }).exactOptional(),
  checks: checksSchema.exactOptional(),
});

export const caseSchema = z.strictObject({
  name,
  channel: name.exactOptional(),
  api: z.enum(["widget", "server"]).exactOptional(),
  agent: agentFields.omit({ mcpServers: true }).default({}),
  visitor: visitorSchema.exactOptional(),
  tools: z
    .array(
      z.strictObject({
        name,
        server: name.default("recorded"),
        title: z.string().exactOptional(),
        description: z.string().default(""),
        inputSchema: schema.default({ type: "object" }),
      }),
    )
    .default([]),
  pageTools: z
    .array(
      z.strictObject({
        name,
        description: z.string().exactOptional(),
        inputSchema: z
          .object({
            type: z.literal("object"),
            properties: schema.exactOptional(),
            required: z.array(z.string()).exactOptional(),
          })
          .exactOptional(),
      }),
    )
    .default([]),
  exchanges: z.array(exchangeSchema).min(1),
  checks: checksSchema.exactOptional(),
});

export type ReplayCase = z.infer<typeof caseSchema>;
export type RecordedExchange = z.infer<typeof exchangeSchema>;
export type RecordedCall = z.infer<typeof callSchema>;
export type Checks = z.infer<typeof checksSchema>;
export type WantedCall = z.infer<typeof wantedCall>;
export type Visitor = z.infer<typeof visitorSchema>;

/** The visitor's data for the model. */
export function speakerOf({ displayName, page, customerContext, locale, attributes }: Visitor = {}): Speaker {
  return {
    displayName: displayName ?? null,
    page: page ?? null,
    customerContext: customerContext ?? null,
    ...(locale === undefined ? {} : { locale }),
    ...attributesField(attributes),
  };
}
