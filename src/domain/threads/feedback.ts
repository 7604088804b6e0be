import type { Feedback, Message } from "./message.ts";

/** May it be rated? Only a text of the model, or of the service in its place; not a person's. */
export function mayBeRated({ role, author, aside }: Pick<Message, "role" | "author" | "aside">): boolean {
  return role === "assistant" && !author && !aside;
}

/** The message with this feedback instead of its former one; null: without any. */
export function withFeedback(message: Message, feedback: Feedback | null): Message {
  const { feedback: _, ...rest } = message;
  return feedback ? { ...rest, feedback } : rest;
}

/** Compares rating and comment, not the time. */
export function isSameFeedback(a: Feedback | null, b: Feedback | null): boolean {
  return a?.rating === b?.rating && a?.comment === b?.comment;
}
