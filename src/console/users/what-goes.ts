import { numberText } from "../parts/numbers.ts";

/** What a user's deletion takes along. */
export interface WhatGoes {
  threads: number;
  /** Are there more than were counted? */
  hasMore: boolean;
  /** null: too many conversations to ask each. */
  messages: number | null;
}

/** `3 conversations with 41 messages` */
export function goesText({ threads, hasMore, messages }: WhatGoes): string {
  if (threads === 0 && !hasMore) return "No conversation: nothing was said yet";
  const conversations = countedText(threads, "conversation", "conversations");
  if (hasMore) return `More than ${conversations}, with all their messages`;
  if (messages === null) return `${conversations}, with all their messages`;
  return `${conversations} with ${countedText(messages, "message", "messages")}`;
}

export function countedText(count: number, one: string, many: string): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}
