import type { ShownMessage } from "../view-state.ts";

export interface ShownFeedback {
  rating: "up" | "down" | null;
  comment: string | null;
  /** The visitor is asked for a comment. Known only to this page. */
  isAsked: boolean;
}

/** A thumb, with an optional comment if it is down; or no thumb. */
export type GivenFeedback = Pick<ShownFeedback, "rating"> & { comment?: string };

/** Read from an item of the history, or set by this page. */
export function feedbackOf(message: Pick<ShownMessage, "feedback">): ShownFeedback {
  const { rating, comment, isAsked }: Record<string, unknown> = Object(message.feedback);
  return {
    rating: rating === "up" || rating === "down" ? rating : null,
    comment: typeof comment === "string" ? comment : null,
    isAsked: isAsked === true,
  };
}

/** Takes ratings of replies. A reply is rendered without knowing its conversation, so every rater is asked. */
export interface Rater {
  has(message: ShownMessage): boolean;
  rate(message: ShownMessage, given: GivenFeedback, thanks: string): Promise<void>;
  /** Stops asking for a comment. */
  skip(message: ShownMessage): void;
}

/** One for each conversation of the page; both live as long as the page. */
const raters: Rater[] = [];

export function addRater(rater: Rater): void {
  raters.push(rater);
}

export function raterOf(message: ShownMessage): Rater | undefined {
  return raters.find((rater) => rater.has(message));
}
