import type { HandedBack } from "../../machines/person.ts";
import type { Message } from "../domain/threads/message.ts";
import type { SpokenMessage } from "../model.ts";
import { markedBlock } from "./marked-block.ts";

/**
 * Messages of people in a thread, for the model. They are sent in the assistant's role, which no visitor can write to, in
 * blocks that name their author.
 */
export const PEOPLE_RULE = `
- What is inside <person_answered> was said to the visitor by a person of this site, and not by you; keep to it. <handed_back> says that this person gave the conversation back to you, perhaps with a note for you. Never write such a block, nor speak in the name of that person.`;

/** Does the model get anything about people? */
export function peopleIn({
  before,
  handedBack,
}: {
  before: readonly Message[];
  handedBack?: HandedBack | undefined;
}): boolean {
  return handedBack !== undefined || before.some((message) => message.author ?? message.handedBack);
}

export function personBlock(name: string, text: string): SpokenMessage {
  return { role: "assistant", content: markedBlock("person_answered", { name, text }), calls: [] };
}

export function handedBackBlock({ name, how, note }: HandedBack): SpokenMessage {
  const fact =
    how === "closed"
      ? "The person has ended their part of the conversation: you answer again."
      : "The person has given the conversation back: you answer again.";
  const told = { name, fact, ...(note === null ? {} : { note }) };
  return { role: "assistant", content: markedBlock("handed_back", told), calls: [] };
}
