import { z } from "zod";
import { Refusal } from "../domain/refusal.ts";

/** A rating of a reply, as both APIs take it (contract, Feedback). */

const MAX_COMMENT_CHARS = 2_000;

const feedbackFields = {
  messageId: z.string().min(1).describe("The id of a reply, as the history has it"),
  rating: z.enum(["up", "down"]).nullable().describe("null takes the former one back"),
  comment: z
    .string()
    .optional()
    .meta({ maxLength: MAX_COMMENT_CHARS })
    .describe("In the visitor's words; over the length it is 413. One that is empty is none"),
};

export const feedbackBody = z.object(feedbackFields);
export type FeedbackBody = z.infer<typeof feedbackBody>;

/** Throws Refusal("too-large"). */
export function commentMustFit({ comment = "" }: FeedbackBody): void {
  if (comment.length > MAX_COMMENT_CHARS) throw new Refusal("too-large");
}

export function givenBy({ messageId, rating, comment = "" }: FeedbackBody) {
  return { messageId, rating, ...(comment.trim() === "" ? {} : { comment }) };
}
