import { z } from "zod";
import { source, step } from "./lines.ts";

/** An image of a message. */
export const attachment = z.object({
  /** The image itself, `data:image/png;base64,…`, or its https address, which the model's server fetches. */
  url: z.string(),
  /** At most 256 characters. */
  name: z.string().exactOptional(),
});

/** A file of a message; it is fetched by its id. */
export const messageFile = z.object({
  /** By which it is fetched, and named by a message. */
  id: z.string(),
  /** As its sender named it, without a folder; at most 256 characters. */
  name: z.string(),
  /** By its content: `application/pdf`, `text/csv`, … */
  type: z.string(),
  /** Its length. */
  bytes: z.int(),
});

/** What somebody thinks of a reply. */
export const rating = z.object({
  /** Good or bad. */
  rating: z.enum(["up", "down"]),
  /** At most 2,000 characters. */
  comment: z.string().exactOptional(),
});

export type Rating = z.infer<typeof rating>;

/** What was said in a thread, by a user, the assistant or a person. */
export const historyItem = z.object({
  /** Unique in the thread; counts up from `"1"`. */
  id: z.string(),
  /** A person's words have the role `assistant`, and an `author`. */
  role: z.enum(["user", "assistant"]),
  /** Its text. */
  content: z.string(),
  createdAt: z.int().describe("Unix time in milliseconds"),
  clientMessageId: z.string().exactOptional().describe("Only on a user's message that came with one"),
  /** Only on a user's message that came with images. */
  attachments: z
    .array(attachment)
    .exactOptional()
    .describe("Only on a user's message that came with some: its images, each itself (data:) or its address"),
  /** Only on a user's message that came with files. */
  files: z
    .array(messageFile)
    .exactOptional()
    .describe("Only on a user's message that came with some: its files, each fetched by its id"),
  steps: z.array(step).exactOptional().describe("Only on a reply that used tools"),
  sources: z
    .array(source)
    .exactOptional()
    .describe("Only on a reply that rests on documents of the site: which ones"),
  /** Only on what a person wrote. */
  author: z
    .object({ type: z.literal("person"), name: z.string() })
    .exactOptional()
    .describe("Only on what a person of the site wrote"),
  /** Only on a reply of a chain of models: who answered, `PROVIDER/MODEL`. */
  model: z
    .string()
    .exactOptional()
    .describe("Only on a reply of a chain of models: who answered, PROVIDER/MODEL"),
  error: z
    .object({ message: z.string(), code: z.string().exactOptional() })
    .exactOptional()
    .describe("Only on the reply of a run that failed; where it said nothing, `content` is this message"),
  /** Only on a reply that was not said to its end, and did not fail: why. */
  ended: z
    .enum(["cancelled", "superseded", "expired"])
    .exactOptional()
    .describe(
      "Only on a reply that was not said to its end, and did not fail: it was stopped, a newer message came, or a page's tool did not answer in time",
    ),
  replaces: z
    .string()
    .exactOptional()
    .describe(
      "Only on what began a branch: the item in whose place it stands; that one and what followed it are in another",
    ),
  otherBranch: z
    .literal(true)
    .exactOptional()
    .describe("Only with `branches=1`: the item is not in the branch that is shown, and told to the model"),
  feedback: rating.exactOptional().describe("Only on a reply that somebody rated"),
});
export type HistoryItem = z.infer<typeof historyItem>;

export const historyPage = z.object({ items: z.array(historyItem) });
export type HistoryPage = z.infer<typeof historyPage>;
