import { z } from "zod";

/** A change of who answers in a thread, as a visitor sees it: a line between the messages. */
export const handoffChange = z.object({
  at: z.int().describe("Unix time in milliseconds"),
  how: z.string().describe("asked, cancelled, expired, taken, unanswered, queued, returned or closed"),
  name: z.string().exactOptional().describe("The person who took the thread, or had it"),
  picture: z.string().exactOptional().describe("Of that person: a data: address"),
});
export type HandoffChange = z.infer<typeof handoffChange>;

/** What a visitor thinks of how a person helped. */
export const handoffRating = z.object({
  score: z.int().min(1).max(5).describe("From 1, bad, to 5, good"),
  comment: z.string().max(2_000).exactOptional(),
});

export const handoffs = z.object({
  items: z.array(handoffChange),
  address: z.string().exactOptional().describe("What the visitor left to be written to"),
  rating: handoffRating
    .nullable()
    .exactOptional()
    .describe("Of the hand-off that ended last; null: none yet; absent: there is none to rate"),
});
export type Handoffs = z.infer<typeof handoffs>;
