import { z } from "zod";

/** A line of a draft of an operator's answer: as of a reply, without what a draft never has. */
export const draftLine = z.discriminatedUnion("type", [
  z.object({ type: z.literal("delta"), text: z.string() }),
  z.object({ type: z.literal("done") }),
  z.object({ type: z.literal("error"), message: z.string() }),
]);
export type DraftLine = z.infer<typeof draftLine>;
