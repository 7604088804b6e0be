import { z } from "zod";
import type { Attachment } from "../domain/attachments.ts";
import type { WholeMessage } from "../actors/whole-history.ts";
import { stepSchema } from "./reference/line-schemas.ts";
import type { Field } from "./route.ts";

/** Messages in a page of history without a `limit` (the spec, Limits). */
const PAGE_MESSAGES = 10;
const PAGE_MESSAGES_MAX = 100;

const limitText = z
  .string()
  .regex(/^\d{1,3}$/)
  .transform(Number)
  .refine((limit) => limit >= 1 && limit <= PAGE_MESSAGES_MAX);

export const historyQuery = z.object({
  limit: limitText.default(PAGE_MESSAGES),
  before: z.string().nullable().default(null),
});

const historyItem = z.object({
  id: z.string(),
  role: z.enum(["user", "assistant"]),
  content: z.string(),
  createdAt: z.int().describe("Unix time in milliseconds"),
  clientMessageId: z.string().optional().describe("Only on a user's message that came with one"),
  attachments: z
    .array(z.object({ url: z.string(), name: z.string().optional() }))
    .optional()
    .describe("Only on a user's message that came with some: its images, each itself (data:) or its address"),
  steps: z.array(stepSchema).optional().describe("Only on a reply that used tools"),
  model: z.string().optional().describe("Only on a reply of a chain of models: who answered, PROVIDER/MODEL"),
  error: z
    .object({ message: z.string(), code: z.string().optional() })
    .optional()
    .describe("Only on the reply of a run that failed; where it said nothing, `content` is this message"),
});

export const historyPage = z.object({ items: z.array(historyItem) });

export const EXAMPLE_PAGE: z.infer<typeof historyPage> = {
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
};

export const pageFields: Record<"limit" | "before", Field> = {
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
};

export function pageOf(messages: readonly WholeMessage[]): z.infer<typeof historyPage> {
  return { items: messages.map(itemOf) };
}

/** A message without what is kept for the model and the inspector. */
function itemOf({
  id,
  role,
  content,
  createdAtMs,
  clientMessageId,
  addresses,
  attachments = [],
  steps,
  model,
  error,
}: WholeMessage): z.infer<typeof historyItem> {
  return {
    id,
    role,
    content,
    createdAt: createdAtMs,
    ...(clientMessageId === undefined ? {} : { clientMessageId }),
    ...(addresses ? { attachments: attachmentsOf(attachments, addresses) } : {}),
    ...(steps ? { steps } : {}),
    ...(model === undefined ? {} : { model }),
    ...(error ? { error } : {}),
  };
}

/** Without one that is lost. */
function attachmentsOf(attachments: readonly Attachment[], addresses: readonly (string | null)[]) {
  return attachments.flatMap(({ name }, nth) => {
    const url = addresses[nth] ?? null;
    return url === null ? [] : [{ url, ...(name === undefined ? {} : { name }) }];
  });
}
