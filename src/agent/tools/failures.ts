import type { Message } from "../../domain/threads/message.ts";
import type { SpokenMessage } from "../../model.ts";
import { markedBlock } from "../marked-block.ts";

/**
 * Runs that failed, for the model: it is told what the visitor was told instead of a reply. In the assistant's role, which
 * no visitor can write to, and in a block, since these are not its own words.
 */
export const FAILURE_RULE = `
- What is inside <reply_failed> is what this service told the visitor when a reply of yours failed, and not what you said. Never write such a block.`;

/** Did a run fail? */
export function failuresIn({ before }: { before: readonly Message[] }): boolean {
  return before.some(({ error }) => error !== undefined);
}

export function failureBlock({ message }: NonNullable<Message["error"]>): SpokenMessage {
  return { role: "assistant", content: markedBlock("reply_failed", { told: message }), calls: [] };
}
