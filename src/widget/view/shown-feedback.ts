import type { ShownMessage } from "./view-state.ts";

export interface ShownFeedback {
  rating: "up" | "down" | null;
  comment: string | null;
  /** The visitor is asked for words. Of this page alone. */
  isAsked: boolean;
}

/** A thumb, words to the one that is down, or neither. */
export type GivenFeedback = Pick<ShownFeedback, "rating"> & { comment?: string };

/** As an item of the history has it, or this page. */
export function feedbackOf(message: Pick<ShownMessage, "feedback">): ShownFeedback {
  const { rating, comment, isAsked }: Record<string, unknown> = Object(message.feedback);
  return {
    rating: rating === "up" || rating === "down" ? rating : null,
    comment: typeof comment === "string" ? comment : null,
    isAsked: isAsked === true,
  };
}

/** Who takes what visitors think of replies. A reply is drawn without knowing whose it is, so each is asked. */
export interface Rater {
  has(message: ShownMessage): boolean;
  rate(message: ShownMessage, given: GivenFeedback, thanks: string): Promise<void>;
  /** Asks for words no longer. */
  skip(message: ShownMessage): void;
}

/** One for each conversation of the page, which stays as long as the page. */
const raters: Rater[] = [];

export function addRater(rater: Rater): void {
  raters.push(rater);
}

export function raterOf(message: ShownMessage): Rater | undefined {
  return raters.find((rater) => rater.has(message));
}
