import type { ShownMessage } from "../view-state.ts";

/** Begins branches of a conversation. A message is rendered without knowing its conversation, so every brancher is asked. */
export interface Brancher {
  has(message: ShownMessage): boolean;
  /** The message is a reply to one that is shown: it may be answered again. */
  mayAnswerAgain(message: ShownMessage): boolean;
  answerAgain(message: ShownMessage): Promise<void>;
  /** A visitor's message is said otherwise. */
  replace(message: ShownMessage, text: string): Promise<void>;
}

/** One for each conversation of the page; both live as long as the page. */
const branchers: Brancher[] = [];

export function addBrancher(brancher: Brancher): void {
  branchers.push(brancher);
}

export function brancherOf(message: ShownMessage): Brancher | undefined {
  return branchers.find((brancher) => brancher.has(message));
}
