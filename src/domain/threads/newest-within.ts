import { contentChars } from "./message.ts";
import type { Message } from "./message.ts";

/** The newest messages whose contents fit the budget, at least one; oldest first. */
export function newestWithin(messages: readonly Message[], budgetChars: number): Message[] {
  let left = budgetChars;
  let first = messages.length;
  while (first > 0) {
    const message = messages[first - 1];
    left -= message ? contentChars(message) : 0;
    if (left < 0 && first < messages.length) break;
    first -= 1;
  }
  return messages.slice(first);
}
