import type { Feedback, Message } from "./message.ts";

/** What the model wrote, or the service for it; not what a person of the site did. */
export function mayBeRated({ role, author, aside }: Pick<Message, "role" | "author" | "aside">): boolean {
  return role === "assistant" && !author && !aside;
}

/** The message with this feedback in place of its former one; null: with none. */
export function withFeedback(message: Message, feedback: Feedback | null): Message {
  const { feedback: _, ...rest } = message;
  return feedback ? { ...rest, feedback } : rest;
}

/** Whenever it was given. */
export function isSameFeedback(a: Feedback | null, b: Feedback | null): boolean {
  return a?.rating === b?.rating && a?.comment === b?.comment && a?.sealed === b?.sealed;
}
