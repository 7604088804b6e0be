import { contentChars } from "../../domain/threads/message.ts";
import type { Feedback, Message, RunRecord, UserMessage } from "../../domain/threads/message.ts";
import type { RunSummary } from "../../store/threads.ts";
import { summaryFrom } from "../../store/threads.ts";

/** Records as they are stored: their contents may be sealed (content-keys/sealed-records.ts), and are then left out. */
export interface StoredMessage extends Omit<Message, "otherBranch"> {
  /** Content, steps, attachments, files, calls, turns, note and error. */
  sealed?: string;
  /** With `sealed`: the length of the content. */
  chars?: number;
  feedback?: StoredFeedback;
}

export interface StoredFeedback extends Feedback {
  /** The comment. */
  sealed?: string;
}

export interface StoredUserMessage extends UserMessage {
  /** Text, speaker, attachments and files. */
  sealed?: string;
  /** Written by earlier versions, and read by nobody. */
  sealedHash?: string;
}

export interface StoredSummary extends RunSummary {
  /** Of the terminal line: a call's arguments, or an error's message. */
  sealedTerminal?: string;
}

export interface StoredRun extends RunRecord {
  /** The lines were the text of this message alone, and are left out. */
  reply?: string;
  /** Speaker, turns and lines. */
  sealed?: string;
  /** As in StoredSummary. */
  sealedTerminal?: string;
}

/** What a message counts for a budget: as much with sealed contents as without. */
export function storedChars(message: StoredMessage): number {
  return contentChars(message) + (message.chars ?? 0);
}

export function storedSummaryFrom(run: StoredSummary): StoredSummary {
  const { sealedTerminal } = run;
  return sealedTerminal === undefined ? summaryFrom(run) : { ...summaryFrom(run), sealedTerminal };
}
